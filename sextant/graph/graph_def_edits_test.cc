#include "sextant/graph/graph_def_edits.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/graph_def.h"
#include "sextant/graph/graph_page.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

proto::GraphDef EditedGraph() {
  proto::GraphDef graph;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
    node { name: "x_in" op: "Const" attr { key: "value" value { tensor {
      dtype: DT_UINT8 tensor_shape { dim { size: 40 } }
      tensor_content: "0123456789012345678901234567890123456789" } } } }
    node { name: "few" op: "Const" attr { key: "value" value { tensor {
      dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1 float_val: 2 } } } }
    node { name: "split_by" op: "Split" input: "few" input: "x_in" }
    node { name: "y" op: "Add" input: "split_by:1" input: "x_in" input: "^few"
      attr { key: "_class" value { list { s: "loc:@x_in" } } } }
    library { function { signature { name: "f" } node_def { name: "x_in" op: "Const"
      attr { key: "value" value { tensor { dtype: DT_UINT8 tensor_shape { dim { size: 33 } }
        tensor_content: "012345678901234567890123456789012" } } } } } }
  )",
                                                            &graph));
  return graph;
}

const std::string& Content(const proto::NodeDef& node) {
  return node.attr().at("value").tensor().tensor_content();
}

TEST(GraphDefEditsTest, StripsLargeConstants) {
  const proto::GraphDef stripped = StripConstants(EditedGraph());
  EXPECT_EQ(Content(stripped.node(0)), "<stripped 40 bytes>");
  EXPECT_EQ(stripped.node(0).attr().at("value").tensor().tensor_shape().dim(0).size(), 40);
  EXPECT_EQ(stripped.node(1).attr().at("value").tensor().float_val_size(), 2);
  EXPECT_EQ(Content(stripped.library().function(0).node_def(0)), "<stripped 33 bytes>");
  EXPECT_EQ(Content(StripConstants(EditedGraph(), 40).node(0)).size(), 40u);
}

TEST(GraphDefEditsTest, StripsConstantsThatAreLists) {
  proto::GraphDef graph;
  proto::NodeDef* const node = graph.add_node();
  node->set_op("Const");
  for (int i = 0; i < 20; ++i) {
    (*node->mutable_attr())["value"].mutable_tensor()->add_float_val(1);
  }
  const proto::GraphDef stripped = StripConstants(graph);
  EXPECT_TRUE(Content(stripped.node(0)).starts_with("<stripped "));
  EXPECT_EQ(stripped.node(0).attr().at("value").tensor().float_val_size(), 0);
}

TEST(GraphDefEditsTest, ExportLeavesLargeConstantsOut) {
  Graph graph;
  const GraphScope use(graph);
  Const(Tensor::Zeros(DType::kFloat, Shape{4, 5}));
  Const(Tensor::Of<float>({1, 2}));
  const proto::GraphDef def = ExportGraphDef(graph, {.max_constant_bytes = 32});
  EXPECT_EQ(Content(def.node(0)), "<stripped 80 bytes>");
  const proto::TensorProto& stripped = def.node(0).attr().at("value").tensor();
  EXPECT_EQ(stripped.dtype(), proto::DT_FLOAT);
  EXPECT_EQ(stripped.tensor_shape().dim(1).size(), 5);
  EXPECT_EQ(Content(def.node(1)).size(), 8u);
  EXPECT_EQ(Content(ExportGraphDef(graph).node(0)).size(), 80u);
}

// The lab's function: the first underscore becomes a scope.
std::string FirstScope(const std::string& name) {
  const size_t at = name.find('_');
  return at == std::string::npos ? name : name.substr(0, at) + "/" + name.substr(at + 1);
}

TEST(GraphDefEditsTest, RenamesNodesWhereverTheyAreNamed) {
  const proto::GraphDef renamed = RenameNodes(EditedGraph(), FirstScope);
  EXPECT_EQ(renamed.node(0).name(), "x/in");
  const proto::NodeDef& y = renamed.node(3);
  EXPECT_EQ(y.name(), "y");
  EXPECT_EQ(y.input(0), "split/by:1");
  EXPECT_EQ(y.input(1), "x/in");
  EXPECT_EQ(y.input(2), "^few");
  EXPECT_EQ(y.attr().at("_class").list().s(0), "loc:@x/in");
  EXPECT_EQ(renamed.library().function(0).node_def(0).name(), "x_in");
}

TEST(GraphDefEditsTest, RefusesNamesThatAreNoneOrTaken) {
  try {
    RenameNodes(EditedGraph(), [](const std::string&) { return "same"; });
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "nodes 'x_in' and 'few' would both be called 'same'");
  }
  EXPECT_THROW(RenameNodes(EditedGraph(), [](const std::string&) { return ""; }), Error);
}

TEST(GraphDefEditsTest, PageHoldsEveryNodeOnce) {
  const std::string page = GraphPage(RenameNodes(EditedGraph(), FirstScope), "a <b>");
  EXPECT_NE(page.find("<title>Graph of a &lt;b></title>"), std::string::npos);
  EXPECT_NE(page.find("\"n\": \"split/by\""), std::string::npos);
  EXPECT_EQ(page.find("{{DATA}}"), std::string::npos);
}

}  // namespace
}  // namespace sextant
