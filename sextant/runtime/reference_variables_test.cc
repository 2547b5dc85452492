// Variables of TensorFlow 1, as its graphs hold them: references, with reads that share the
// variable's buffer. The expected values are TensorFlow's.
#include <gtest/gtest.h>

#include <sstream>

#include "sextant/graph/graph_def.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

const std::string kT = "attr { key: 'T' value { type: DT_FLOAT } } ";
const std::string kMergeOfTwo = "attr { key: 'N' value { i: 2 } } ";

std::string AddNode(const std::string& name, const std::string& op, const std::string& inputs,
                    const std::string& attrs = kT) {
  std::string text = "node { name: '" + name + "' op: '" + op + "' " + attrs;
  std::istringstream words(inputs);
  for (std::string word; words >> word;) text += " input: '" + word + "'";
  return text + " }\n";
}

std::string Constant(const std::string& name, float value, const std::string& inputs = "") {
  return AddNode(
      name, "Const", inputs,
      "attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { tensor "
      "{ dtype: DT_FLOAT tensor_shape { } float_val: " +
          std::to_string(value) + " } } }");
}

std::string Enter(const std::string& name, const std::string& input, bool constant = true,
                  const std::string& op = "Enter") {
  return AddNode(name, op, input,
                 kT +
                     "attr { key: 'frame_name' value { s: 'loop' } } attr { key: 'is_constant' "
                     "value { b: " +
                     (constant ? "true" : "false") + " } }");
}

// A float scalar variable "v" with "v/read" and the operation "v/init".
std::string ScalarVariable(float value) {
  return AddNode("v", "VariableV2", "",
                 "attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape "
                 "{ } } } ") +
         Constant("v/value", value) + AddNode("v/init", "Assign", "v v/value") +
         AddNode("v/read", "Identity", "v");
}

// The fetched floats, after initialising v unless told otherwise.
std::vector<float> RunText(const std::string& text, const std::vector<std::string>& fetches,
                           bool initialize = true) {
  Graph graph;
  ImportGraphDefText(text, graph);
  Session session(graph);
  if (initialize) session.Run(graph.FindOperation("v/init"));
  std::vector<float> values;
  for (const Tensor& value : session.Run(NamedFeeds{}, fetches)) {
    values.push_back(static_cast<float>(value.AsDouble()));
  }
  return values;
}

using Floats = std::vector<float>;

TEST(ReferenceVariablesTest, AReadIsSeenAsItIsWhenItsReaderRuns) {
  const std::string text =
      ScalarVariable(2) + Constant("five", 5) + Constant("zero", 0, "^add") +
      AddNode("add", "AssignAdd", "v five ^before") + AddNode("before", "Mul", "v/read v/read") +
      AddNode("after", "AddV2", "v/read zero ^add") + AddNode("by_data", "AddV2", "v/read zero") +
      AddNode("more", "AssignAdd", "v five ^after ^by_data") +
      AddNode("copy", "StopGradient", "v/read ^more") + AddNode("late", "Neg", "copy");
  EXPECT_EQ(RunText(text, {"before:0", "after:0", "by_data:0", "late:0"}), (Floats{4, 7, 7, -12}));
}

TEST(ReferenceVariablesTest, ViewsOfAReadAreSeenSoToo) {
  const std::string text =
      ScalarVariable(2) + Constant("five", 5) +
      AddNode("axis", "Const", "",
              "attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { tensor { "
              "dtype: DT_INT32 tensor_shape { } int_val: 0 } } }") +
      AddNode("view", "ExpandDims", "v/read axis",
              kT + "attr { key: 'Tdim' value { type: DT_INT32 } }") +
      AddNode("before", "Neg", "view") + AddNode("add", "AssignAdd", "v five ^before") +
      AddNode("after", "Neg", "view ^add");
  EXPECT_EQ(RunText(text, {"before:0", "after:0"}), (Floats{-2, -7}));
}

// i = 0; while (i < 4) { v = v/read * v/read; i += 1; }
std::string SquaringLoop() {
  return ScalarVariable(2) + Constant("start", 0) + Constant("four", 4) + Constant("one", 1) +
         Enter("i0", "start", false) + Enter("limit", "four") + Enter("step", "one") +
         Enter("read", "v/read") + Enter("ref", "v", true, "RefEnter") +
         AddNode("i", "Merge", "i0 next", kT + kMergeOfTwo) + AddNode("less", "Less", "i limit") +
         AddNode("go_on", "LoopCond", "less", "") + AddNode("sides", "Switch", "i go_on") +
         AddNode("square", "Mul", "read read ^sides") + AddNode("set", "Assign", "ref square") +
         AddNode("sum", "AddV2", "sides:1 step") + AddNode("waited", "Identity", "sum ^set") +
         AddNode("next", "NextIteration", "waited") + AddNode("end", "Exit", "sides");
}

TEST(ReferenceVariablesTest, ALoopReadsWhatItsLastIterationWrote) {
  EXPECT_EQ(RunText(SquaringLoop() + Constant("zero", 0, "^end") +
                        AddNode("after", "AddV2", "v/read zero"),
                    {"end:0", "after:0"}),
            (Floats{4, 65536}));
}

// float v[1] = 3, grown to five[2, 3] and shrunk to one[4]; both Assigns do not look at the shape.
// The sum is by hand: TensorFlow's optimizer takes v for a vector there.
TEST(ReferenceVariablesTest, AnAssignThatDoesNotValidateChangesTheShape) {
  const auto sizes = [](const std::string& name, const std::vector<int>& values) {
    std::string text;
    for (const int value : values) text += " int_val: " + std::to_string(value);
    return AddNode(name, "Const", "",
                   "attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { "
                   "tensor { dtype: DT_INT32 tensor_shape { dim { size: " +
                       std::to_string(values.size()) + " } }" + text + " } } } ");
  };
  const std::string any = kT + "attr { key: 'validate_shape' value { b: false } } ";
  Graph graph;
  ImportGraphDefText(
      AddNode("v", "VariableV2", "",
              "attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape { "
              "dim { size: 1 } } } } ") +
          sizes("one", {1}) + sizes("two_three", {2, 3}) + sizes("four", {4}) + sizes("all", {-1}) +
          sizes("axis", {0}) + Constant("a", 3) + Constant("b", 5) + Constant("c", 1) +
          AddNode("a/v", "Fill", "one a") + AddNode("b/v", "Fill", "two_three b") +
          AddNode("c/v", "Fill", "four c") + AddNode("init", "Assign", "v a/v") +
          AddNode("grow", "Assign", "v b/v", any) + AddNode("shrink", "Assign", "v c/v", any) +
          AddNode("read", "Identity", "v") + AddNode("neg", "Neg", "read") +
          AddNode("flat", "Reshape", "read all") + AddNode("sum", "Sum", "flat axis"),
      graph);
  Session session(graph);
  const auto expect = [&](const char* assign, const Shape& shape, float value, float sum) {
    session.Run(graph.FindOperation(assign));
    const auto values = session.Run(NamedFeeds{}, {"neg:0", "sum:0"});
    EXPECT_EQ(values[0].shape(), shape);
    EXPECT_EQ(values[0].flat<float>()[0], value);
    EXPECT_EQ(values[1].scalar<float>(), sum);
  };
  expect("init", Shape{1}, -3, 3);
  expect("grow", Shape{2, 3}, -5, 30);
  expect("shrink", Shape{4}, -1, 4);
}

// A predicate "pred" that nothing knows before it is computed.
std::string Predicate(bool value) {
  return AddNode("p", "VariableV2", "",
                 "attr { key: 'dtype' value { type: DT_BOOL } } attr { key: 'shape' value { shape "
                 "{ } } } ") +
         AddNode("p/value", "Const", "",
                 std::string("attr { key: 'dtype' value { type: DT_BOOL } } attr { key: 'value' "
                             "value { tensor { dtype: DT_BOOL tensor_shape { } bool_val: ") +
                     (value ? "true" : "false") + " } } }") +
         AddNode("p/init", "Assign", "p p/value", "attr { key: 'T' value { type: DT_BOOL } }") +
         AddNode("pred", "Identity", "p/init", "attr { key: 'T' value { type: DT_BOOL } }");
}

TEST(ReferenceVariablesTest, ABranchReadsWhatItWrote) {
  const auto text = [](bool p) {
    return ScalarVariable(2) + Constant("five", 5) + Constant("hundred", 100) + Predicate(p) +
           AddNode("read", "Switch", "v/read pred") + AddNode("ref", "RefSwitch", "v pred") +
           AddNode("value", "Switch", "five pred") + AddNode("add", "AssignAdd", "ref:1 value:1") +
           AddNode("yes", "Neg", "read:1 ^add") + AddNode("no", "Mul", "read hundred") +
           AddNode("y", "Merge", "no yes", kT + kMergeOfTwo);
  };
  EXPECT_EQ(RunText(text(true), {"y:0"}), (Floats{-7}));
  EXPECT_EQ(RunText(text(false), {"y:0"}), (Floats{200}));
}

// w = 3; c = cond(p, v, w or ten); v += 5; w += 7; then c is read, as it is and by a copy of a
// view.
TEST(ReferenceVariablesTest, WhatAConditionalHandsOnIsSeenSoToo) {
  const auto text = [](bool p, const std::string& other) {
    return ScalarVariable(2) + Constant("five", 5) + Constant("seven", 7) + Constant("ten", 10) +
           Predicate(p) +
           AddNode("w", "VariableV2", "",
                   "attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { "
                   "shape { } } } ") +
           Constant("three", 3) + AddNode("w/init", "Assign", "w three") +
           AddNode("w/read", "Identity", "w ^w/init") +
           AddNode("first", "Switch", other + " pred") +
           AddNode("second", "Switch", "v/read pred") + AddNode("yes", "Identity", "second:1") +
           AddNode("c", "Merge", "first yes", kT + kMergeOfTwo) +
           AddNode("before", "AddV2", "c c") +
           AddNode("axis", "Const", "",
                   "attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { "
                   "tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } }") +
           AddNode("view", "ExpandDims", "c axis",
                   kT + "attr { key: 'Tdim' value { type: DT_INT32 } }") +
           AddNode("copy", "StopGradient", "view") +
           AddNode("add", "AssignAdd", "v five ^before ^copy") +
           AddNode("add_w", "AssignAdd", "w seven ^add ^w/init") +
           AddNode("after", "Neg", "c ^add_w") + AddNode("of_copy", "Neg", "copy ^add_w");
  };
  const std::vector<std::string> fetches = {"before:0", "after:0", "of_copy:0"};
  EXPECT_EQ(RunText(text(true, "w/read"), fetches), (Floats{4, -7, -7}));
  EXPECT_EQ(RunText(text(false, "w/read"), fetches), (Floats{6, -10, -10}));
  EXPECT_EQ(RunText(text(true, "ten"), fetches), (Floats{4, -7, -7}));
  EXPECT_EQ(RunText(text(false, "ten"), fetches), (Floats{20, -10, -10}));
}

// The variable is assigned on the side that finds it without a value.
TEST(ReferenceVariablesTest, ReferencesToUninitializedVariablesCanBeSwitched) {
  const std::string text =
      ScalarVariable(2) + Constant("one", 1) +
      AddNode("is", "IsVariableInitialized", "v",
              "attr { key: 'dtype' value { type: DT_FLOAT } }") +
      AddNode("sides", "RefSwitch", "v is") + AddNode("no", "RefIdentity", "sides") +
      AddNode("yes", "RefIdentity", "sides:1") + AddNode("set", "Assign", "v one ^no") +
      AddNode("old", "Identity", "v ^yes") + AddNode("y", "Merge", "set old", kT + kMergeOfTwo);
  EXPECT_EQ(RunText(text, {"y:0", "y:1"}, false), (Floats{1, 0}));
  EXPECT_EQ(RunText(text, {"y:0", "y:1"}), (Floats{2, 1}));
}

}  // namespace
}  // namespace sextant
