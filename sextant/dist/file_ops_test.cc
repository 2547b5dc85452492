#include "sextant/dist/file_ops.h"

#include <gtest/gtest.h>

#include "sextant/graph/graph_def.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/testing/status_of.h"

namespace sextant::dist {
namespace {

Status Check(const proto::GraphDef& graph) {
  return StatusOf(
      [&] { CheckOpensNoFiles(graph.SerializeAsString(), "/job:ps/replica:0/task:1"); });
}

proto::NodeDef& AddNode(proto::GraphDef& graph, const std::string& op, const std::string& name) {
  proto::NodeDef& node = *graph.add_node();
  node.set_op(op);
  node.set_name(name);
  return node;
}

TEST(FileOpsTest, NamesTheNodeThatOpensFiles) {
  proto::GraphDef graph;
  AddNode(graph, "MatMul", "a");
  EXPECT_TRUE(Check(graph).ok());
  AddNode(graph, "ReadFile", "secrets");
  const Status status = Check(graph);
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_TRUE(status.message().starts_with("[ReadFile secrets] /job:ps/task:1 opens no files"))
      << status.message();
}

TEST(FileOpsTest, LooksIntoFunctions) {
  proto::GraphDef graph;
  proto::NodeDef& node = *graph.mutable_library()->add_function()->add_node_def();
  node.set_op("SaveV2");
  node.set_name("save");
  EXPECT_EQ(Check(graph).code(), Code::kPermissionDenied);
}

TEST(FileOpsTest, CachesMayBeInMemory) {
  proto::GraphDef graph;
  proto::NodeDef& name = AddNode(graph, "Const", "name");
  auto& tensor = *(*name.mutable_attr())["value"].mutable_tensor();
  tensor.add_string_val("");
  proto::NodeDef& cache = AddNode(graph, "CacheDataset", "cache");
  cache.add_input("data");
  cache.add_input("name");
  EXPECT_TRUE(Check(graph).ok());
  graph.mutable_node(0)->mutable_attr()->at("value").mutable_tensor()->set_string_val(0, "file");
  EXPECT_EQ(Check(graph).code(), Code::kPermissionDenied);
  graph.mutable_node(0)->set_op("Placeholder");
  EXPECT_EQ(Check(graph).code(), Code::kPermissionDenied);
}

TEST(FileOpsTest, WhatIsNoGraphIsSaid) {
  EXPECT_EQ(StatusOf([] { CheckOpensNoFiles("\xff\xff", "/job:a/replica:0/task:0"); }).code(),
            Code::kDataLoss);
}

}  // namespace
}  // namespace sextant::dist
