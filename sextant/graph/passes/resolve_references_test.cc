#include "sextant/graph/passes/resolve_references.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/graph/graph_def.h"

namespace sextant {
namespace {

const std::string kFloatAttr = "attr { key: 'T' value { type: DT_FLOAT } } ";

std::string Variable(const std::string& name, const std::string& more = "") {
  return "node { name: '" + name +
         "' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' "
         "value { "
         "shape { dim { size: 2 } } } } " +
         more + "}\n";
}

const char* const kValue =
    "node { name: 'value' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
    "attr { key: 'shape' value { shape { dim { size: 2 } } } } }\n";

bool WaitsFor(const Node& node, std::string_view name) {
  return std::any_of(node.control_inputs().begin(), node.control_inputs().end(),
                     [&](const Node* input) { return input->name() == name; });
}

TEST(ResolveReferencesTest, VariablesBecomeHandlesAndReadersRead) {
  Graph graph;
  ImportGraphDefText(Variable("v") +
                         Variable("w", "attr { key: 'shared_name' value { s: 'other' } }") +
                         "node { name: 'v/read' op: 'Identity' input: 'v' " + kFloatAttr + "}" +
                         "node { name: 'sum' op: 'AddV2' input: 'v' input: 'w' " + kFloatAttr + "}",
                     graph);
  ResolveReferences(graph);
  const Node* v = graph.FindNode("v");
  EXPECT_EQ(v->type(), "VarHandleOp");
  EXPECT_EQ(v->attr<std::string>("shared_name"), "v");
  EXPECT_EQ(graph.FindNode("w")->attr<std::string>("shared_name"), "other");
  const Node* read = graph.FindNode("v/read")->input(0).node();
  EXPECT_EQ(read->type(), "ReadVariableOp");
  EXPECT_EQ(read->input(0).node(), v);
  EXPECT_EQ(read->output_shape(0), PartialShape({2}));
  EXPECT_EQ(graph.FindNode("sum")->input(0).node()->type(), "ReadVariableOp");
}

TEST(ResolveReferencesTest, AReaderOfAssignReadsAfterIt) {
  Graph graph;
  ImportGraphDefText(
      Variable("v") + kValue + "node { name: 'set' op: 'Assign' input: 'v' input: 'value' " +
          kFloatAttr + "}" + "node { name: 'add' op: 'AssignAdd' input: 'set' input: 'value' " +
          kFloatAttr + "}" + "node { name: 'out' op: 'Identity' input: 'add' " + kFloatAttr + "}",
      graph);
  ResolveReferences(graph);
  const Node* set = graph.FindNode("set");
  EXPECT_EQ(set->type(), "AssignVariableOp");
  EXPECT_EQ(set->num_outputs(), 0);
  const Node* add = graph.FindNode("add");
  EXPECT_EQ(add->type(), "AssignAddVariableOp");
  EXPECT_EQ(add->input(0).name(), "v:0");
  EXPECT_TRUE(WaitsFor(*add, "set"));
  const Node* read = graph.FindNode("out")->input(0).node();
  EXPECT_EQ(read->type(), "ReadVariableOp");
  EXPECT_TRUE(WaitsFor(*read, "add"));
}

TEST(ResolveReferencesTest, TheReadWaitsForWhatItsReaderWaitsFor) {
  Graph graph;
  ImportGraphDefText(Variable("v") + kValue +
                         "node { name: 'set' op: 'Assign' input: 'v' input: 'value' " + kFloatAttr +
                         "}" + "node { name: 'late' op: 'Neg' input: 'value' " + kFloatAttr + "}" +
                         "node { name: 'out' op: 'AddV2' input: 'v' input: 'late' input: '^set' " +
                         kFloatAttr + "}",
                     graph);
  ResolveReferences(graph);
  const Node* read = graph.FindNode("out")->input(0).node();
  EXPECT_TRUE(WaitsFor(*read, "set"));
  EXPECT_TRUE(WaitsFor(*read, "late"));
}

// Where nothing else says when a read happens, the order of the program does.
TEST(ResolveReferencesTest, AReadComesWhereItsReaderWas) {
  Graph graph;
  ImportGraphDefText(
      Variable("v") + kValue + "node { name: 'before' op: 'Neg' input: 'v' " + kFloatAttr + "}" +
          "node { name: 'set' op: 'Assign' input: 'v' input: 'value' " + kFloatAttr + "}" +
          "node { name: 'after' op: 'AddV2' input: 'v' input: 'value' " + kFloatAttr + "}",
      graph);
  ResolveReferences(graph);
  std::vector<std::string> order;
  for (int i = 0; i < graph.num_nodes(); ++i) order.push_back(graph.node(i)->name());
  EXPECT_EQ(order, (std::vector<std::string>{"v", "value", "v/_read", "before", "set", "v/_read_1",
                                             "after"}));
}

TEST(ResolveReferencesTest, SwitchesOfReferencesSwitchHandles) {
  Graph graph;
  ImportGraphDefText(
      Variable("v") + kValue +
          "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } } "
          "attr { key: 'shape' value { shape { } } } }"
          "node { name: 'sw' op: 'RefSwitch' input: 'v' input: 'p' " +
          kFloatAttr + "}" + "node { name: 'set' op: 'Assign' input: 'sw:1' input: 'value' " +
          kFloatAttr + "}" + "node { name: 'id' op: 'RefIdentity' input: 'sw' " + kFloatAttr + "}" +
          "node { name: 'out' op: 'Neg' input: 'id' " + kFloatAttr + "}",
      graph);
  ResolveReferences(graph);
  EXPECT_EQ(graph.FindNode("sw")->type(), "Switch");
  EXPECT_EQ(graph.FindNode("set")->input(0).name(), "sw:1");
  const Node* read = graph.FindNode("out")->input(0).node();
  EXPECT_EQ(read->type(), "ReadVariableOp");
  EXPECT_EQ(read->input(0).name(), "id:0");
  for (int i = 0; i < graph.num_nodes(); ++i) {
    for (int k = 0; k < graph.node(i)->num_outputs(); ++k) {
      EXPECT_FALSE(IsRef(graph.node(i)->output_type(k)));
    }
  }
}

TEST(ResolveReferencesTest, InitializedAndOptimizersHaveResourceForms) {
  Graph graph;
  ImportGraphDefText(
      Variable("v") + kValue +
          "node { name: 'is' op: 'IsVariableInitialized' input: 'v' attr { key: 'dtype' value { "
          "type: DT_FLOAT } } }"
          "node { name: 'rate' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
          "attr { key: 'shape' value { shape { } } } }"
          "node { name: 'step' op: 'ApplyGradientDescent' input: 'v' input: 'rate' input: "
          "'value' " +
          kFloatAttr + "}",
      graph);
  ResolveReferences(graph);
  EXPECT_EQ(graph.FindNode("is")->type(), "VarIsInitializedOp");
  EXPECT_EQ(graph.FindNode("step")->type(), "ResourceApplyGradientDescent");
}

}  // namespace
}  // namespace sextant
