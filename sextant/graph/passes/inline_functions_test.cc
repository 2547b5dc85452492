#include "sextant/graph/passes/inline_functions.h"

#include <gtest/gtest.h>

#include <set>

#include "sextant/base/error.h"
#include "sextant/graph/graph_def.h"

namespace sextant {
namespace {

const char* const kInputs =
    "node { name: 'a' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
    "attr { key: 'shape' value { shape { } } } }"
    "node { name: 'first' op: 'NoOp' }";

const std::string kT = "attr { key: 'T' value { type: DT_FLOAT } } ";

std::string Call(const std::string& name, const std::string& function, const std::string& inputs,
                 const std::string& op = "PartitionedCall") {
  return "node { name: '" + name + "' op: '" + op + "' " + inputs +
         " attr { key: 'Tin' value { list { type: DT_FLOAT } } } attr { key: 'Tout' value { list { "
         "type: "
         "DT_FLOAT } } } attr { key: 'f' value { func { name: '" +
         function + "' } } } }\n";
}

// A function of one float argument x and one result.
std::string FunctionText(const std::string& name, const std::string& nodes,
                         const std::string& result) {
  return "function { signature { name: '" + name +
         "' input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } } " +
         nodes + " ret { key: 'y' value: '" + result + "' } }\n";
}

std::string BodyCall(const std::string& name, const std::string& function,
                     const std::string& input) {
  std::string text = Call(name, function, "input: '" + input + "'");
  return text.replace(0, 4, "node_def");
}

void Import(Graph& graph, const std::string& nodes, const std::string& functions) {
  ImportGraphDefText(kInputs + nodes + "library { " + functions + " }", graph);
}

TEST(InlineFunctionsTest, ACallBecomesItsBody) {
  Graph graph;
  Import(graph,
         Call("call", "f", "input: 'a' input: '^first'") +
             "node { name: 'out' op: 'Neg' input: 'call' input: '^call' " + kT + "}",
         FunctionText("f", "node_def { name: 'n' op: 'Neg' input: 'x' device: '/cpu:0' " + kT + "}",
                      "n:y:0"));
  InlineFunctions(graph);
  const Node* out = graph.FindNode("out");
  const Node* n = graph.FindNode("call/n");
  ASSERT_NE(n, nullptr);
  EXPECT_EQ(out->input(0).node(), n);
  EXPECT_EQ(n->device(), "/cpu:0");
  // The argument waits for what the call waited for, and so does the body.
  EXPECT_EQ(n->input(0).node()->type(), "Identity");
  EXPECT_EQ(n->input(0).node()->control_inputs()[0]->name(), "first");
  const Node* call = graph.FindNode("call");
  EXPECT_EQ(call->type(), "NoOp");
  EXPECT_EQ(out->control_inputs()[0], call);
  ASSERT_EQ(call->control_inputs().size(), 2u);
}

TEST(InlineFunctionsTest, CallsInsideBodiesAndFunctionsAsOpsAreInlined) {
  Graph graph;
  Import(
      graph,
      "node { name: 'call' op: 'g' input: 'a' }"
      "node { name: 'out' op: 'Neg' input: 'call' " +
          kT + "}",
      FunctionText("f", "node_def { name: 'n' op: 'Neg' input: 'x' " + kT + "}", "n:y:0") +
          FunctionText("g", BodyCall("inner", "f", "x") + BodyCall("inner2", "f", "inner:output:0"),
                       "inner2:output:0"));
  InlineFunctions(graph);
  EXPECT_EQ(graph.FindNode("out")->input(0).name(), "call/inner2/n:0");
  EXPECT_EQ(graph.FindNode("call/inner2/n")->input(0).name(), "call/inner/n:0");
  EXPECT_EQ(graph.FindNode("call/inner/n")->input(0).name(), "a:0");
  EXPECT_EQ(graph.FindNode("call/inner")->type(), "NoOp");
}

TEST(InlineFunctionsTest, AnArgumentMayBeTheResult) {
  Graph graph;
  Import(graph,
         Call("call", "f", "input: 'a'") + Call("again", "f", "input: 'call'") +
             "node { name: 'out' op: 'Neg' input: 'again' " + kT + "}",
         FunctionText("f", "", "x"));
  InlineFunctions(graph);
  EXPECT_EQ(graph.FindNode("out")->input(0).name(), "a:0");
}

TEST(InlineFunctionsTest, EffectsRunWhenAnyResultIsUsed) {
  Graph graph;
  Import(
      graph,
      Call("call", "f", "input: 'a'", "StatefulPartitionedCall") +
          "node { name: 'out' op: 'Neg' input: 'call' " + kT + "}",
      FunctionText(
          "f",
          "node_def { name: 'ok' op: 'Const' attr { key: 'dtype' value { type: DT_BOOL } } attr { "
          "key: 'value' value { tensor { dtype: DT_BOOL tensor_shape { } bool_val: true } } } }"
          "node_def { name: 'check' op: 'Assert' input: 'ok:output:0' input: 'x' attr { key: 'T' "
          "value { list { type: DT_FLOAT } } } }",
          "x"));
  InlineFunctions(graph);
  const Node* out = graph.FindNode("out");
  std::set<const Node*> needed;
  std::vector<const Node*> open = {out};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!needed.insert(node).second) continue;
    for (const Output& input : node->inputs()) open.push_back(input.node());
    for (const Node* input : node->control_inputs()) open.push_back(input);
  }
  EXPECT_TRUE(needed.contains(graph.FindNode("call/check")));
}

TEST(InlineFunctionsTest, RecursionIsAnError) {
  Graph graph;
  Import(graph, Call("call", "f", "input: 'a'"),
         FunctionText("f", BodyCall("inner", "g", "x"), "inner:output:0") +
             FunctionText("g", BodyCall("inner", "f", "x"), "inner:output:0"));
  try {
    InlineFunctions(graph);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(),
              "[PartitionedCall call/inner/inner] function f calls itself without end");
  }
}

TEST(InlineFunctionsTest, CallsThatMultiplyAreStopped) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    text += FunctionText("f" + std::to_string(i),
                         BodyCall("one", next, "x") + BodyCall("two", next, "one:output:0"),
                         "two:output:0");
  }
  text += FunctionText("f40", "", "x");
  Graph graph;
  Import(graph, Call("call", "f0", "input: 'a'"), text);
  try {
    InlineFunctions(graph);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kResourceExhausted);
  }
}

}  // namespace
}  // namespace sextant
