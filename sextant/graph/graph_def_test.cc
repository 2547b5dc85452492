#include "sextant/graph/graph_def.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <ctime>

#include "sextant/base/error.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

proto::GraphDef ParseGraphDef(const std::string& text) {
  proto::GraphDef def;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &def)) << text;
  return def;
}

std::string Placeholder(const std::string& name, const std::string& type = "DT_FLOAT") {
  return "node { name: '" + name + "' op: 'Placeholder' attr { key: 'dtype' value { type: " + type +
         " } } attr { key: 'shape' value { shape { unknown_rank: true } } } }\n";
}

std::string Unary(const std::string& name, const std::string& op, const std::string& inputs,
                  const std::string& more = "") {
  return "node { name: '" + name + "' op: '" + op + "' " + inputs +
         " attr { key: 'T' value { type: DT_FLOAT } } " + more + "}\n";
}

// A loop without body: x enters, goes round and leaves.
const char* const kLoop = R"(
  node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } }
         attr { key: 'shape' value { shape { } } } }
  node { name: 'next' op: 'NextIteration' input: 'switch:1'
         attr { key: 'T' value { type: DT_FLOAT } } }
  node { name: 'exit' op: 'Exit' input: 'switch' attr { key: 'T' value { type: DT_FLOAT } } }
  node { name: 'merge' op: 'Merge' input: 'enter' input: 'next'
         attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'N' value { i: 2 } } }
  node { name: 'switch' op: 'Switch' input: 'merge' input: 'cond'
         attr { key: 'T' value { type: DT_FLOAT } } }
  node { name: 'cond' op: 'LoopCond' input: 'pe' }
  node { name: 'pe' op: 'Enter' input: 'p' attr { key: 'T' value { type: DT_BOOL } }
         attr { key: 'frame_name' value { s: 'f' } } attr { key: 'is_constant' value { b: true } } }
  node { name: 'enter' op: 'Enter' input: 'x' attr { key: 'T' value { type: DT_FLOAT } }
         attr { key: 'frame_name' value { s: 'f' } } }
)";

void ExpectRoundTrip(const proto::GraphDef& def) {
  Graph graph;
  ImportGraphDef(def, graph);
  const proto::GraphDef again = ExportGraphDef(graph);
  google::protobuf::util::MessageDifferencer differencer;
  std::string report;
  differencer.ReportDifferencesToString(&report);
  EXPECT_TRUE(differencer.Compare(def, again)) << report;
}

TEST(GraphDefTest, ComesOutAsItWentIn) {
  ExpectRoundTrip(
      ParseGraphDef(Unary("b", "Neg", "input: 'a' input: '^c' input: '^a'", "device: '/gpu:0'") +
                    Placeholder("a") + Placeholder("c") +
                    "node { name: 'u' op: 'NobodyKnows' input: 'a' input: 'u2:3' "
                    "attr { key: '_x' value { list { } } } "
                    "experimental_debug_info { original_node_names: 'n' } "
                    "experimental_type { type_id: TFT_PRODUCT } }"
                    "node { name: 'u2' op: 'NobodyKnows' }"
                    "versions { producer: 134 min_consumer: 12 bad_consumers: 7 }"
                    "debug_info { files: 'a.py' }"));
}

TEST(GraphDefTest, LoopsComeOutAsTheyWentIn) {
  ExpectRoundTrip(ParseGraphDef(std::string(kLoop) + Placeholder("x")));
}

TEST(GraphDefTest, FunctionsComeOutAsTheyWentIn) {
  ExpectRoundTrip(ParseGraphDef(Placeholder("a") + R"(
    node { name: 'call' op: 'twice' input: 'a' attr { key: 'T' value { type: DT_FLOAT } } }
    library {
      function {
        signature { name: 'twice' input_arg { name: 'x' type_attr: 'T' }
                    output_arg { name: 'y' type_attr: 'T' } attr { name: 'T' type: 'type' } }
        node_def { name: 'sum' op: 'AddV2' input: 'x' input: 'x'
                   attr { key: 'T' value { placeholder: 'T' } } }
        ret { key: 'y' value: 'sum:z:0' }
        arg_attr { key: 0 value { attr { key: '_user_specified_name' value { s: 'x' } } } }
      }
      gradient { function_name: 'twice' gradient_func: 'twice_grad' }
      registered_gradients { gradient_func: 'g' registered_op_type: 'h' }
    }
    versions { producer: 1645 })"));
}

TEST(GraphDefTest, NodesKeepTheOrderOfTheFileAndTypesTheOrderOfTheEdges) {
  Graph graph;
  ImportGraphDef(ParseGraphDef(Unary("b", "Neg", "input: 'a'") + Placeholder("a")), graph);
  EXPECT_EQ(graph.node(0)->name(), "b");
  EXPECT_EQ(graph.FindOutput("b:0").dtype(), DType::kFloat);
}

TEST(GraphDefTest, UnknownOutputsTakeTheTypesOfTheirConsumers) {
  Graph graph;
  ImportGraphDef(
      ParseGraphDef("node { name: 'u' op: 'NobodyKnows' }" + Unary("b", "Neg", "input: 'u:2'")),
      graph);
  const Node* node = graph.FindNode("u");
  ASSERT_EQ(node->num_outputs(), 3);
  EXPECT_TRUE(node->op().unknown());
  EXPECT_EQ(node->output_type(2), DType::kFloat);
  EXPECT_EQ(node->output_type(0), DType::kInvalid);
}

TEST(GraphDefTest, KeepsConstantsOfTypesThatNoTensorHolds) {
  ExpectRoundTrip(ParseGraphDef(R"(
    node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT8_E5M2 } }
           attr { key: 'value' value { tensor { dtype: DT_FLOAT8_E5M2 tensor_shape { }
                                                float8_val: 'a' } } } }
    node { name: 'u' op: 'NobodyKnows' input: 'c' })"));
}

TEST(GraphDefTest, ThePrefixGoesBeforeNamesAndColocations) {
  Graph graph;
  ImportGraphDef(ParseGraphDef(Placeholder("a")), graph);
  ImportGraphDef(ParseGraphDef(Placeholder("a") +
                               Unary("b", "Neg", "input: 'a' input: '^a'",
                                     "attr { key: '_class' value { list { s: 'loc:@a' } } }")),
                 graph, {.prefix = "p/q"});
  const Node* node = graph.FindNode("p/q/b");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->input(0).name(), "p/q/a:0");
  EXPECT_EQ(node->attr<std::vector<std::string>>("_class")[0], "loc:@p/q/a");
  EXPECT_EQ(graph.UniqueName("P/Q/B"), "P/Q/B_1");
}

TEST(GraphDefTest, StripsDefaultsAndAddsShapesWhenAsked) {
  Graph graph;
  ImportGraphDef(ParseGraphDef(Placeholder("a")), graph);
  const auto stripped = ExportGraphDef(graph, {.strip_default_attrs = true});
  EXPECT_FALSE(stripped.node(0).attr().contains("shape"));
  EXPECT_TRUE(stripped.node(0).attr().contains("dtype"));
  const auto shaped = ExportGraphDef(graph, {.output_shapes = true});
  EXPECT_TRUE(shaped.node(0).attr().at("_output_shapes").list().shape(0).unknown_rank());
}

TEST(GraphDefTest, TextGoesBothWays) {
  Graph graph;
  ImportGraphDefText(Placeholder("a"), graph);
  Graph again;
  ImportGraphDefText(ExportGraphDefText(graph), again);
  EXPECT_EQ(again.num_nodes(), 1);
  EXPECT_THROW(ImportGraphDefText("node { name: 'b' ", graph), Error);
  EXPECT_THROW(ImportGraphDef(std::string_view("\x0a\xff\xff"), graph), Error);
}

struct BadGraph {
  std::string text;
  std::string message;  // part of it
};

TEST(GraphDefTest, MalformedGraphsAreRefusedAndNothingIsAdded) {
  const std::string a = Placeholder("a");
  const std::vector<BadGraph> cases = {
      {a + Placeholder("a"), "named 'a'"},
      {Placeholder(""), "not a valid node name"},
      {Placeholder("a b"), "not a valid node name"},
      {a + Unary("b", "Neg", "input: 'c'"), "[Neg b] input 'c' does not exist"},
      {a + Unary("b", "Neg", "input: 'a:1'"), "[Neg b] input 'a:1' does not exist"},
      {a + Unary("b", "Neg", "input: 'a:-1'"), "not a valid input"},
      {a + Unary("b", "Neg", "input: 'a:01'"), "not a valid input"},
      {a + Unary("b", "Neg", "input: 'a:'"), "not a valid input"},
      {a + Unary("b", "Neg", "input: 'a:99999999999999'"), "not a valid input"},
      {a + Unary("b", "Neg", "input: ''"), "does not exist"},
      {a + Unary("b", "Neg", "input: '^'"), "does not exist"},
      {a + Unary("b", "Neg", "input: '^a:0'"), "does not exist"},
      {a + Unary("b", "Neg", "input: '^a' input: 'a'"), "follows a control input"},
      {Unary("b", "Neg", "input: 'b'"), "cycle of 1 nodes: b -> b"},
      {Unary("b", "Neg", "input: 'd'") + Unary("c", "Neg", "input: 'b'") +
           Unary("d", "Neg", "input: 'c'") + Unary("e", "Neg", "input: 'd'"),
       "cycle of 3 nodes"},
      {a + Unary("b", "Neg", "input: 'a' input: '^b'"), "cycle"},
      {"node { name: 'u' op: 'NobodyKnows' input: 'v:2000000000' } node { name: 'v' op: "
       "'NobodyKnows' }",
       "out of range"},
      {a + "versions { producer: 9999 min_consumer: 9999 }", "refuses"},
      {a + "versions { producer: 9999 bad_consumers: 1645 }", "refuses"},
      {"library { function { signature { name: 'f' } } function { signature { name: 'f' "
       "is_stateful: true } } }",
       "two functions"},
      {"library { function { signature { } } }", "has no name"},
      {"library { function { signature { name: 'f' input_arg { name: 'x' } } } }", "function f"},
  };
  for (const BadGraph& bad : cases) {
    Graph graph;
    ImportGraphDef(ParseGraphDef(Placeholder("before")), graph);
    try {
      ImportGraphDef(ParseGraphDef(bad.text), graph);
      ADD_FAILURE() << "accepted: " << bad.text;
    } catch (const Error& e) {
      EXPECT_NE(e.message().find(bad.message), std::string::npos) << bad.text << "\n"
                                                                  << e.message();
    }
    EXPECT_EQ(graph.num_nodes(), 1);
    EXPECT_EQ(graph.FindNode("a"), nullptr);
    EXPECT_TRUE(graph.functions().empty());
    EXPECT_EQ(graph.producer, 0);
    ImportGraphDef(ParseGraphDef(a), graph);  // its name was not taken
  }
}

// A node that cannot run does not keep the rest of the graph from being used.
TEST(GraphDefTest, MalformedNodesAreKeptWithTheReason) {
  const std::string a = Placeholder("a");
  const std::vector<BadGraph> cases = {
      {a + Unary("b", "Neg", ""), "needs more inputs"},
      {a + Unary("b", "Neg", "input: 'a' input: 'a'"), "takes 1 inputs, got 2"},
      {Placeholder("a", "DT_INT32") + Unary("b", "Neg", "input: 'a'"), "is int32, must be float"},
      {a + "node { name: 'b' op: 'Neg' input: 'a' }", "attribute 'T' is missing"},
      {a + "node { name: 'b' op: 'Neg' input: 'a' attr { key: 'T' value { i: 1 } } }", "expected"},
      {a + "node { name: 'b' op: 'Neg' input: 'a' attr { key: 'T' value { type: 300 } } }", "300"},
      {a + Unary("b", "AddN", "input: 'a'", "attr { key: 'N' value { i: 1152921504606846976 } }"),
       "'N'"},
      {a + Unary("b", "AddN", "input: 'a'", "attr { key: 'N' value { i: -1 } }"), "'N' is -1"},
      {a + Unary("b", "Unpack", "input: 'a'",
                 "attr { key: 'num' value { i: 1152921504606846976 } }"),
       "out of range"},
      {a + "node { name: 'b' op: 'Identity' }", "attribute 'T' is missing"},
      {a + "node { name: 'b' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { "
           "key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } } "
           "tensor_content: 'x' } } } }",
       "attribute 'value'"},
      {a + "node { name: 'b' op: 'MatMul' input: 'a' input: 'c' attr { key: 'T' value { type: "
           "DT_FLOAT } } attr { key: 'transpose_a' value { b: false } } attr { key: 'transpose_b' "
           "value { b: false } } } node { name: 'c' op: 'Placeholder' attr { key: 'dtype' value { "
           "type: DT_FLOAT } } attr { key: 'shape' value { shape { dim { size: 2 } } } } }",
       "rank"},
  };
  for (const BadGraph& bad : cases) {
    const proto::GraphDef def = ParseGraphDef(bad.text + Unary("user", "Neg", "input: 'b:1'"));
    Graph graph;
    ImportGraphDef(def, graph);
    const Node* node = graph.FindNode("b");
    ASSERT_NE(node, nullptr);
    EXPECT_TRUE(node->op().unknown()) << bad.text;
    EXPECT_NE(node->op().doc().find(bad.message), std::string::npos) << node->op().doc();
    EXPECT_FALSE(graph.FindNode("user")->op().unknown());
    ExpectRoundTrip(def);
  }
}

TEST(GraphDefTest, OutputsOfUnknownOpsNameTheOp) {
  Graph graph;
  ImportGraphDef(ParseGraphDef("node { name: 'u' op: 'NobodyKnows' }" +
                               Unary("b", "Neg", "input: 'u:2'") + Unary("bad", "Neg", "")),
                 graph);
  try {
    graph.FindOutput("u:3");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNotFound);
    EXPECT_EQ(e.message(), "[NobodyKnows u] op type 'NobodyKnows' is not registered");
  }
  try {
    graph.FindOutput("bad:0");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("[Neg bad] needs more inputs"), std::string::npos) << e.message();
  }
}

// One value and a shape in the file: nothing of that size is made before a run needs it.
TEST(GraphDefTest, LargeConstantsStayEncoded) {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text +=
        "node { name: 'c" + std::to_string(i) +
        "' op: 'Const' attr { key: 'dtype' value { type: DT_INT8 } } attr { key: 'value' value { "
        "tensor { dtype: DT_INT8 tensor_shape { dim { size: 20000000000 } } int_val: 7 } } } }";
  }
  const proto::GraphDef def = ParseGraphDef(text);
  Graph graph;
  ImportGraphDef(def, graph);
  EXPECT_EQ(graph.FindOutput("c9:0").dtype(), DType::kInt8);
  EXPECT_EQ(graph.FindOutput("c9:0").shape(), (PartialShape{20000000000}));
  EXPECT_THROW(graph.FindNode("c9")->attr<Tensor>("value"), Error);
  ExpectRoundTrip(def);
}

TEST(GraphDefTest, ImportIsLinear) {
  proto::GraphDef def = ParseGraphDef(Placeholder("n0"));
  const proto::NodeDef add = ParseGraphDef(Unary("x", "AddV2", "")).node(0);
  const int count = 100'000;
  for (int i = 1; i < count; ++i) {
    proto::NodeDef* node = def.add_node();
    *node = add;
    node->set_name("n" + std::to_string(i));
    node->add_input("n" + std::to_string(i - 1));
    node->add_input("n" + std::to_string(i / 2));
  }
  const std::clock_t begin = std::clock();  // processor time: others may be at work
  Graph graph;
  ImportGraphDef(def, graph);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(graph.num_nodes(), count);
  EXPECT_LT(seconds, 5.0);  // about 0.2; sanitizers take their share
  std::printf("%d nodes imported in %.3f s\n", count, seconds);
}

}  // namespace
}  // namespace sextant
