#include "sextant/dist/file_ops.h"

#include <gtest/gtest.h>

#include "sextant/graph/graph_def.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/sextant.h"
#include "sextant/testing/status_of.h"

namespace sextant::dist {
namespace {

class FileOpsTest : public testing::Test {
 protected:
  static Status Check(const Graph& graph) {
    return StatusOf([&] { CheckOpensNoFiles(graph, "/job:ps/replica:0/task:1"); });
  }
  Graph graph_;
  const GraphScope use_{graph_};
  const Output name_ = Const(Tensor("a"));
};

Output Secrets(Output name) { return OpBuilder("ReadFile").Input(name).Name("secrets").Build(); }

TEST_F(FileOpsTest, NamesTheNodeThatOpensFiles) {
  EXPECT_TRUE(Check(graph_).ok());
  Secrets(name_);
  const Status status = Check(graph_);
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_TRUE(status.message().starts_with("[ReadFile secrets] /job:ps/task:1 opens no files"))
      << status.message();
}

// Those that can be reached: a program that restores itself has more.
TEST_F(FileOpsTest, LooksIntoFunctionsThatAreCalled) {
  const Output which = Placeholder(DType::kBool, {}, "which");
  const auto inner = [&] {
    return Cond(
        which, [&] { return std::vector<Output>{Secrets(name_)}; },
        [&] { return std::vector<Output>{name_}; });
  };
  Cond(which, inner, [&] { return std::vector<Output>{name_}; });
  ASSERT_FALSE(graph_.functions().empty());
  EXPECT_EQ(Check(graph_).code(), Code::kPermissionDenied);
  proto::GraphDef def = ExportGraphDef(graph_);
  def.clear_node();
  Graph uncalled;
  ImportGraphDef(def, uncalled);
  ASSERT_FALSE(uncalled.functions().empty());
  EXPECT_TRUE(Check(uncalled).ok());
}

TEST_F(FileOpsTest, CachesMayBeInMemory) {
  const std::vector<DType> types = {DType::kFloat};
  const std::vector<PartialShape> shapes = {PartialShape({})};
  const auto cache = [&](const Output& file) {
    const Output data = OpBuilder("TensorDataset")
                            .Input(std::vector<Output>{Const(Tensor(1.0f))})
                            .Attr("output_shapes", shapes)
                            .Build();
    return OpBuilder("CacheDataset")
        .Input(data)
        .Input(file)
        .Attr("output_types", types)
        .Attr("output_shapes", shapes)
        .Build();
  };
  cache(Const(Tensor("")));
  EXPECT_TRUE(Check(graph_).ok());
  for (const bool fed : {true, false}) {
    Graph graph;
    const GraphScope use(graph);
    cache(fed ? Placeholder(DType::kString, {}) : Const(Tensor("file")));
    EXPECT_EQ(Check(graph).code(), Code::kPermissionDenied);
  }
}

}  // namespace
}  // namespace sextant::dist
