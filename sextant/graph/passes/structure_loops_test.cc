#include "sextant/graph/passes/structure_loops.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/graph_def.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

std::string Node1(const std::string& name, const std::string& op, const std::string& inputs,
                  const std::string& attrs) {
  std::string text = "node { name: '" + name + "' op: '" + op + "' ";
  for (size_t begin = 0; begin < inputs.size();) {
    const size_t end = std::min(inputs.find(' ', begin), inputs.size());
    text += "input: '" + inputs.substr(begin, end - begin) + "' ";
    begin = end + 1;
  }
  return text + attrs + " }\n";
}

const std::string kInt = "attr { key: 'T' value { type: DT_INT32 } } ";

std::string Int(const std::string& name, const std::string& op, const std::string& inputs,
                const std::string& attrs = "") {
  return Node1(name, op, inputs, kInt + attrs);
}

std::string Enter(const std::string& name, const std::string& input, const std::string& frame,
                  bool constant = false) {
  return Int(name, "Enter", input,
             "attr { key: 'frame_name' value { s: '" + frame + "' } } " +
                 (constant ? "attr { key: 'is_constant' value { b: true } } " : ""));
}

std::string IntPlaceholder(const std::string& name) {
  return "node { name: '" + name +
         "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'shape' "
         "value { "
         "shape { } } } }\n";
}

const std::string kTwo = "attr { key: 'N' value { i: 2 } }";

// while (i < limit) i += step, in the frame f; names end in "suffix".
std::string CountingLoop(const std::string& start, const std::string& frame,
                         const std::string& limit, const std::string& step,
                         const std::string& s = "") {
  return Enter("enter" + s, start, frame) + Enter("limit_in" + s, limit, frame, true) +
         Enter("step_in" + s, step, frame, true) +
         Int("merge" + s, "Merge", "enter" + s + " next" + s, kTwo) +
         Int("less" + s, "Less", "merge" + s + " limit_in" + s) +
         Node1("cond" + s, "LoopCond", "less" + s, "") +
         Int("switch" + s, "Switch", "merge" + s + " cond" + s) +
         Int("i" + s, "Identity", "switch" + s + ":1") +
         Int("add" + s, "AddV2", "i" + s + " step_in" + s) +
         Int("next" + s, "NextIteration", "add" + s) + Int("exit" + s, "Exit", "switch" + s);
}

const FunctionBody& BodyOf(const Node& loop, const char* attr) {
  const Function& function = loop.graph().functions().Get(loop.attr<FuncAttr>(attr).name);
  return *function.Instantiate(loop.graph().functions());
}

TEST(StructureLoopsTest, ALoopBecomesAWhile) {
  Graph graph;
  ImportGraphDefText(IntPlaceholder("x") + IntPlaceholder("n") + IntPlaceholder("d") +
                         CountingLoop("x", "f/g", "n", "d") + Int("after", "Neg", "exit ^exit"),
                     graph);
  StructureLoops(graph);
  ASSERT_EQ(graph.num_nodes(), 6);  // x n d exit after while
  const Node* exit = graph.FindNode("exit");
  EXPECT_EQ(exit->type(), "Identity");
  const Node& loop = *exit->input(0).node();
  EXPECT_EQ(loop.type(), "StatelessWhile");
  EXPECT_EQ(loop.name(), "f/g");
  ASSERT_EQ(loop.num_inputs(), 3);
  EXPECT_EQ(loop.input(0).name(), "x:0");
  EXPECT_EQ(loop.input(1).name(), "n:0");
  EXPECT_EQ(loop.input(2).name(), "d:0");
  EXPECT_EQ(graph.FindNode("after")->control_inputs()[0], exit);

  const FunctionBody& cond = BodyOf(loop, "cond");
  ASSERT_EQ(cond.results.size(), 1u);
  EXPECT_EQ(cond.results[0].name(), "less:0");
  EXPECT_EQ(cond.results[0].node()->input(0), cond.args[0]);
  EXPECT_EQ(cond.results[0].node()->input(1), cond.args[1]);
  const FunctionBody& body = BodyOf(loop, "body");
  ASSERT_EQ(body.results.size(), 3u);
  EXPECT_EQ(body.results[0].name(), "add:0");
  EXPECT_EQ(body.results[1], body.args[1]);
  EXPECT_EQ(body.results[2], body.args[2]);
  EXPECT_EQ(body.results[0].node()->input(0).node()->input(0), body.args[0]);
}

// A body that held the whole library would make n loops take n^2.
TEST(StructureLoopsTest, BodiesHoldTheFunctionsTheyUse) {
  std::string loops = IntPlaceholder("x") + IntPlaceholder("n") + IntPlaceholder("d");
  for (const char* s : {"_1", "_2", "_3"}) {
    loops += CountingLoop("x", std::string("f") + s, "n", "d", s);
  }
  Graph graph;
  ImportGraphDefText(loops, graph);
  StructureLoops(graph);
  EXPECT_EQ(graph.functions().all().size(), 6u);
  for (const auto& function : graph.functions().all()) {
    EXPECT_TRUE(function->Instantiate(graph.functions())->graph->functions().empty());
  }
}

// The body of the outer loop runs an inner one that starts from the outer variable.
TEST(StructureLoopsTest, InnerLoopsGoIntoTheBodyOfOuterOnes) {
  const std::string loops =
      Enter("enter", "x", "outer") + Enter("limit_in", "n", "outer", true) +
      Enter("step_in", "d", "outer", true) + Int("merge", "Merge", "enter next", kTwo) +
      Int("less", "Less", "merge limit_in") + Node1("cond", "LoopCond", "less", "") +
      Int("switch", "Switch", "merge cond") + Int("i", "Identity", "switch:1") +
      CountingLoop("i", "inner", "limit_in", "step_in", "_2") +
      Int("next", "NextIteration", "exit_2") + Int("exit", "Exit", "switch");
  Graph graph;
  ImportGraphDefText(IntPlaceholder("x") + IntPlaceholder("n") + IntPlaceholder("d") + loops,
                     graph);
  StructureLoops(graph);
  ASSERT_EQ(graph.num_nodes(), 5);
  const Node& outer = *graph.FindNode("exit")->input(0).node();
  const FunctionBody& body = BodyOf(outer, "body");
  EXPECT_EQ(body.results[0].name(), "exit_2:0");
  const Node& inner = *body.results[0].node()->input(0).node();
  EXPECT_EQ(inner.type(), "StatelessWhile");
  EXPECT_EQ(BodyOf(inner, "body").results[0].name(), "add_2:0");
}

TEST(StructureLoopsTest, ConditionalsStay) {
  const std::string loop =
      Enter("enter", "x", "f") + Enter("limit_in", "n", "f", true) +
      Int("merge", "Merge", "enter next", kTwo) + Int("less", "Less", "merge limit_in") +
      Node1("cond", "LoopCond", "less", "") + Int("switch", "Switch", "merge cond") +
      Int("i", "Identity", "switch:1") + Int("odd", "Greater", "i limit_in") +
      Int("branch", "Switch", "i odd") + Int("no", "Neg", "branch:0") +
      Int("yes", "Neg", "branch:1") + Int("join", "Merge", "no yes", kTwo) +
      Int("next", "NextIteration", "join") + Int("exit", "Exit", "switch");
  Graph graph;
  ImportGraphDefText(IntPlaceholder("x") + IntPlaceholder("n") + loop, graph);
  StructureLoops(graph);
  const FunctionBody& body = BodyOf(*graph.FindNode("exit")->input(0).node(), "body");
  EXPECT_EQ(body.results[0].node()->type(), "Merge");
  EXPECT_EQ(body.graph->FindNode("branch")->type(), "Switch");
}

TEST(StructureLoopsTest, EffectsAndOuterControlEdgesAreKept) {
  std::string loop = CountingLoop("x", "f", "n", "d");
  loop +=
      "node { name: 'check' op: 'Assert' input: 'less' input: 'i' attr { key: 'T' value { list { "
      "type: "
      "DT_INT32 } } } }\n";
  loop += Int("waits", "Neg", "i ^x");
  loop += Int("unused", "Neg", "i");
  loop.replace(loop.find("input: 'i' input: 'step_in'"), 27,
               "input: 'i' input: 'step_in' input: '^waits'");
  Graph graph;
  ImportGraphDefText(IntPlaceholder("x") + IntPlaceholder("n") + IntPlaceholder("d") + loop, graph);
  StructureLoops(graph);
  const Node& while_node = *graph.FindNode("exit")->input(0).node();
  EXPECT_EQ(while_node.type(), "While");
  ASSERT_EQ(while_node.control_inputs().size(), 1u);
  EXPECT_EQ(while_node.control_inputs()[0]->name(), "x");
  const FunctionBody& body = BodyOf(while_node, "body");
  ASSERT_EQ(body.effects.size(), 1u);
  EXPECT_EQ(body.effects[0].name(), "check");
  EXPECT_EQ(body.graph->FindNode("add")->control_inputs()[0]->name(), "waits");
  EXPECT_EQ(body.graph->FindNode("unused"), nullptr);
}

// LoopCond only marks the condition. TensorFlow runs loops without it, whichever side exits.
TEST(StructureLoopsTest, ALoopNeedsNoLoopCond) {
  const auto run = [](const char* test, const char* stays, const char* exits) {
    const std::string loop =
        Enter("enter", "x", "f") + Enter("limit_in", "n", "f", true) +
        Enter("step_in", "d", "f", true) + Int("merge", "Merge", "enter next", kTwo) +
        Int("test", test, "merge limit_in") +
        Node1("copy", "Identity", "test", "attr { key: 'T' value { type: DT_BOOL } } ") +
        Int("switch", "Switch", "merge copy") + Int("add", "AddV2", stays) +
        Int("next", "NextIteration", "add") + Int("exit", "Exit", exits);
    Graph graph;
    ImportGraphDefText(IntPlaceholder("x") + IntPlaceholder("n") + IntPlaceholder("d") + loop,
                       graph);
    return Session(graph)
        .Run(NamedFeeds{{"x:0", Tensor(1)}, {"n:0", Tensor(10)}, {"d:0", Tensor(4)}}, {"exit:0"})[0]
        .scalar<int32_t>();
  };
  EXPECT_EQ(run("Less", "switch:1 step_in", "switch:0"), 13);
  EXPECT_EQ(run("GreaterEqual", "switch:0 step_in", "switch:1"), 13);
}

// As TensorFlow's own tests have them: a frame without a loop, and a loop whose predicate is there
// in the first iteration only.
TEST(StructureLoopsTest, FramesOfOneIterationDissolve) {
  const auto run = [](const std::string& text) {
    Graph graph;
    ImportGraphDefText(IntPlaceholder("x") + IntPlaceholder("n") + text, graph);
    return Session(graph)
        .Run(NamedFeeds{{"x:0", Tensor(7)}, {"n:0", Tensor(10)}}, {"exit:0"})[0]
        .scalar<int32_t>();
  };
  EXPECT_EQ(run(Enter("a", "x", "f") + Enter("b", "n", "f") + Int("c", "Mul", "a b") +
                Int("exit", "Exit", "c")),
            70);
  EXPECT_EQ(run(Enter("a", "x", "f") + Enter("b", "n", "f") + Int("greater", "Greater", "a b") +
                Int("merge", "Merge", "b next", kTwo) + Int("switch", "Switch", "merge greater") +
                Int("next", "NextIteration", "switch") + Int("exit", "Exit", "switch")),
            10);
}

TEST(StructureLoopsTest, WhatIsNoLoopIsRefused) {
  const std::string inputs = IntPlaceholder("x") + IntPlaceholder("n") + IntPlaceholder("d");
  const auto structure = [&](const std::string& text) {
    Graph graph;
    ImportGraphDefText(inputs + text, graph);
    try {
      StructureLoops(graph);
      return std::string("accepted");
    } catch (const Error& e) {
      return e.message();
    }
  };
  EXPECT_EQ(structure(Int("e", "Exit", "x")), "[Exit e] is not in a loop");
  EXPECT_EQ(
      structure(Enter("e", "x", "f") + Int("m", "Merge", "e next", kTwo) +
                Int("next", "NextIteration", "m")),
      "the loop 'f' with [Enter e] has no condition: no variable goes by a Switch to an Exit");
  EXPECT_EQ(structure(Enter("a", "x", "f") + Enter("b", "x", "g") + Int("c", "AddV2", "a b")),
            "[AddV2 c] uses tensors of two loops, 'f' and 'g'");
  EXPECT_EQ(structure(CountingLoop("x", "f", "n", "d") + Int("bad", "Exit", "add")),
            "[Exit bad] must take a variable out of its loop");
  EXPECT_EQ(
      structure(
          CountingLoop("x", "f", "n", "d") +
          "node { name: 'r' op: '_Retval' input: 'add' attr { key: 'index' value { i: 0 } } " +
          kInt + "}"),
      "add:0 is inside the loop 'f' and has no single value: use what the loop's Exit gives");
}

}  // namespace
}  // namespace sextant
