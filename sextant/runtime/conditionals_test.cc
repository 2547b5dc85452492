// Conditionals of Switch and Merge: which of them are resolved before a run, and what is optimised
// beside those that are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "sextant/sextant.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

SessionOptions NoOptimization() {
  SessionOptions options;
  options.optimizer = {.fold_constants = false,
                       .merge_common = false,
                       .fuse_updates = false,
                       .block_images = false,
                       .fuse_images = false,
                       .winograd = false,
                       .fuse_products = false,
                       .fuse_elementwise = false,
                       .static_memory = false,
                       .parallel_steps = ParallelSteps::kNever};
  return options;
}

class ConditionalsTest : public testing::Test {
 protected:
  // y of tf.cond(pred, 2x + 1, x * x) for a vector x.
  static Output Branches(Output x, Output pred) {
    const SwitchOutputs sides = Switch(x, pred);
    return Merge({Square(sides.output_false), sides.output_true * 2.0 + 1.0}).output;
  }

  // How many steps of each op a run takes.
  static std::map<std::string, int> Steps(Session& session, const FeedMap& feeds,
                                          const std::vector<Output>& fetches) {
    StepTrace trace;
    session.Run(feeds, fetches, {}, {.trace = &trace});
    std::map<std::string, int> steps;
    for (const StepTrace::Event& event : trace.events()) ++steps[event.op];
    return steps;
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(ConditionalsTest, WhatNoSwitchGovernsIsOptimized) {
  const Variable flag("flag", Tensor(true));
  const Output x = Placeholder(DType::kFloat, PartialShape{4});
  const Output chain = Tanh(Exp(x * 0.5) + 1.0);  // one fused step
  const Output behind = Tanh(Exp(Branches(chain, flag.Read()) * 0.25) + 2.0);
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  auto steps = Steps(session, {{x, Tensor::Of<float>({0, 1, 2, 3})}}, {chain, behind});
  EXPECT_EQ(steps["_Elementwise"], 2);
  EXPECT_EQ(steps["Tanh"] + steps["Exp"], 0);
  EXPECT_EQ(steps["Switch"], 1);
}

TEST_F(ConditionalsTest, KnownPredicatesLeaveNoSwitch) {
  const Output x = Placeholder(DType::kFloat, PartialShape{4});
  const Output fed = Placeholder(DType::kBool, Shape());
  const Output by_default = PlaceholderWithDefault(Const(Tensor(false)), Shape());
  const Output less = Less(Const(Tensor(1.0f)), Const(Tensor(2.0f)));
  const Output switch_t = Identity(Switch(fed, fed).output_true);
  const Output static_rank = Equal(Rank(x), Const(Tensor(1)));
  const Tensor in = Tensor::Of<float>({0, 1, 2, 3});
  const Tensor taken = Tensor::Of<float>({1, 3, 5, 7}), other = Tensor::Of<float>({0, 1, 4, 9});
  Session session(graph_);
  const auto expect = [&](Output pred, const FeedMap& more, const Tensor& expected) {
    FeedMap feeds = {{x, in}};
    feeds.insert(feeds.end(), more.begin(), more.end());
    const Output y = Branches(x, pred);
    auto steps = Steps(session, feeds, {y});
    EXPECT_EQ(steps["Switch"] + steps["Merge"], 0) << pred.name();
    EXPECT_EQ(steps["LogicalNot"], 0);
    EXPECT_TRUE(session.Run(feeds, y).Identical(expected)) << pred.name();
  };
  expect(Const(Tensor(true)), {}, taken);
  expect(Identity(fed), {{fed, Tensor(true)}}, taken);
  expect(Identity(fed), {{fed, Tensor(false)}}, other);
  expect(LogicalNot(Identity(fed)), {{fed, Tensor(false)}}, taken);
  expect(switch_t, {{fed, Tensor(true)}}, taken);
  expect(by_default, {}, other);
  expect(LogicalNot(by_default), {}, taken);
  expect(by_default, {{by_default, Tensor(true)}}, taken);
  expect(less, {}, taken);
  expect(static_rank, {}, taken);
}

TEST_F(ConditionalsTest, AFedPredicateMayChangeFromRunToRun) {
  const Output x = Placeholder(DType::kFloat, PartialShape{2});
  const Output fed = Placeholder(DType::kBool, Shape());
  const Output y = Branches(x, fed);
  Session session(graph_);
  const Callable callable = session.MakeCallable({x, fed}, {y});
  const Tensor in = Tensor::Of<float>({3, 4});
  Tensor flag(false);
  for (int run = 0; run < 6; ++run) {
    const bool value = run % 3 == 0;
    *flag.data<bool>() = value;  // the same tensor again: Plans must not keep it
    const Tensor expected = value ? Tensor::Of<float>({7, 9}) : Tensor::Of<float>({9, 16});
    EXPECT_TRUE(session.Run({{x, in}, {fed, flag}}, y).Identical(expected)) << run;
    EXPECT_TRUE(callable({{in, flag}})[0].Identical(expected)) << run;
  }
  EXPECT_EQ(session.num_plans(), 2);
}

TEST_F(ConditionalsTest, ManyFedBoolsDoNotMultiplyPlans) {
  std::vector<Output> flags;
  Output y = Const(Tensor::Of<float>({1, 2}));
  for (int i = 0; i < 8; ++i) {
    flags.push_back(Placeholder(DType::kBool, Shape()));
    y = Branches(y, flags.back());
  }
  Session session(graph_), plain(graph_, NoOptimization());
  for (int bits = 0; bits < 256; bits += 5) {
    FeedMap feeds;
    for (int i = 0; i < 8; ++i) feeds.emplace_back(flags[i], Tensor((bits >> i & 1) != 0));
    ASSERT_TRUE(session.Run(feeds, y).Identical(plain.Run(feeds, y))) << bits;
  }
  EXPECT_LE(session.num_plans(), 16);
}

// Also where the predicate is known when the run is planned, and loops and branches lie in between.
TEST_F(ConditionalsTest, WhatIsFetchedFromABranchNotTakenHasNoValue) {
  const Output fed = Placeholder(DType::kBool, Shape(), "fed");
  const Output side = Switch(Const(Tensor(2.0f)), fed).output_true;
  const Output loop =
      While([](const auto& v) { return Less(v[0], Const(Tensor(9.0f))); },
            [](const auto& v) { return std::vector<Output>{v[0] * v[0]}; }, {side})[0];
  const auto branch = [&] { return std::vector<Output>{Neg(side)}; };
  const Output positive = Greater(side, Const(Tensor(0.0f)));
  const Output chosen = Cond(positive, branch, branch)[0];
  const Output of_case = SwitchCase(Cast(positive, DType::kInt32), {branch, branch})[0];
  Session session(graph_);
  const std::map<std::string, std::pair<Output, float>> outputs = {
      {"loop", {loop, 16.0f}}, {"if", {chosen, -2.0f}}, {"case", {of_case, -2.0f}}};
  for (const auto& [name, expected] : outputs) {
    const auto& [output, value] = expected;
    EXPECT_EQ(session.Run({{fed, Tensor(true)}}, output).scalar<float>(), value) << name;
    const Output fetch = output;
    const Status status = StatusOf([&] { session.Run({{fed, Tensor(false)}}, fetch); });
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(status.message(),
              fetch.name() + " has no value: it lies on a branch that was not taken");
  }
}

TEST_F(ConditionalsTest, EffectsOfABranchNotTakenDoNotHappen) {
  const Variable count("count", Tensor(0.0f));
  const Output fed = Placeholder(DType::kBool, Shape());
  const SwitchOutputs sides = Switch(Const(Tensor(1.0f)), fed);
  const Operation fails = Assert(Identity(Switch(fed, fed).output_false), {fed});
  const Output added = count.AssignAdd(sides.output_true);
  Output left, right;
  {
    const ControlDependencies after({fails});
    left = Identity(sides.output_false);
  }
  {
    const ControlDependencies after({Operation(added.node())});
    right = Identity(sides.output_true);
  }
  const Output y = Merge({left, right}).output;
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  EXPECT_EQ(session.Run({{fed, Tensor(true)}}, y).scalar<float>(), 1);
  EXPECT_THROW(session.Run({{fed, Tensor(false)}}, y), Error);
  EXPECT_EQ(session.Run(count.Read()).scalar<float>(), 1);
  // Targets of branches that are not taken are left out; fetches have no value.
  session.Run(FeedMap{{fed, Tensor(false)}}, Operation(added.node()));
  EXPECT_EQ(session.Run(count.Read()).scalar<float>(), 1);
  EXPECT_THROW(session.Run({{fed, Tensor(false)}}, right), Error);
}

// Of the sides of a conditional one is not taken; what was computed for both before it, was
// computed. Expected values from TensorFlow 2.15 (tf.compat.v1, control flow v1).
TEST_F(ConditionalsTest, EffectsBeforeAConditionalHappenWhicheverSideIsTaken) {
  const Variable count("count", Tensor(1.0f));
  const Output fed = Placeholder(DType::kBool, Shape());
  for (const Output& pred : {fed, Const(Tensor(true)), LogicalNot(LogicalNot(fed))}) {
    const Output added = count.AssignAdd(Const(Tensor(10.0f)));
    const Output known = Merge({Switch(added, pred).output_false * 2.0f,
                                Switch(Const(Tensor(5.0f)), pred).output_true * 3.0f})
                             .output;
    const Output computed = Merge({Switch(added, pred).output_false * 2.0f,
                                   Switch(Sin(Cast(fed, DType::kFloat)), pred).output_true})
                                .output;
    for (const Output& y : {known, computed}) {
      Session session(graph_);
      session.Run(GlobalVariablesInitializer());
      session.Run({{fed, Tensor(true)}}, y);
      EXPECT_EQ(session.Run(count.Read()).scalar<float>(), 11);
    }
  }
}

// A node of a function body on floats.
std::string BodyNode(const std::string& name, const std::string& op, const std::string& inputs,
                     const std::string& attrs = "attr { key: 'T' value { type: DT_FLOAT } }") {
  std::string text = "node_def { name: '" + name + "' op: '" + op + "' " + attrs;
  std::istringstream words(inputs);
  for (std::string word; words >> word;) text += " input: '" + word + "'";
  return text + " }\n";
}

std::string BodyFloat(const std::string& name, const std::string& value) {
  return BodyNode(
      name, "Const", "",
      "attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { tensor { "
      "dtype: DT_FLOAT tensor_shape { } float_val: " +
          value + " } } }");
}

std::string BodyPrint(const std::string& name, const std::string& input) {
  return BodyNode(name, "Print", input + " " + input,
                  "attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'U' value { list { type: "
                  "DT_FLOAT } } }");
}

// Runs y = f(x) for each of the values, all calls in one graph and one Run.
std::vector<float> CallEach(const std::string& body, const std::string& result,
                            const std::vector<float>& values) {
  Graph graph;
  std::string nodes;
  std::vector<std::string> fetches;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string n = std::to_string(i);
    nodes += "node { name: 'x" + n +
             "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: "
             "'shape' value { shape { } } } } node { name: 'y" +
             n + "' op: 'f' input: 'x" + n + "' }\n";
    fetches.push_back("y" + n + ":0");
  }
  ImportGraphDefText(
      nodes +
          "library { function { signature { name: 'f' input_arg { name: 'x' type: DT_FLOAT } "
          "output_arg { name: 'y' type: DT_FLOAT } is_stateful: true } " +
          body + " ret { key: 'y' value: '" + result + "' } } }",
      graph);
  NamedFeeds feeds;
  for (size_t i = 0; i < values.size(); ++i) {
    feeds.emplace_back("x" + std::to_string(i) + ":0", Tensor(values[i]));
  }
  std::vector<float> results;
  Session session(graph);
  for (const Tensor& y : session.Run(feeds, fetches)) results.push_back(y.scalar<float>());
  return results;
}

// Defun: cond(x > 0, Print(x) * 2, x * 3).
TEST(ConditionalsInFunctionsTest, EffectsOfTheOtherBranchDoNotKillTheResult) {
  const std::string body =
      BodyFloat("zero", "0") + BodyNode("positive", "Greater", "x zero:output:0") +
      BodyNode("sides", "Switch", "x positive:z:0") + BodyPrint("show", "sides:output_true:0") +
      BodyNode("twice", "Add", "show:output:0 show:output:0") +
      BodyNode("double", "Add", "sides:output_false:0 sides:output_false:0") +
      BodyNode("thrice", "Add", "double:z:0 sides:output_false:0") +
      BodyNode("y", "Merge", "thrice:z:0 twice:z:0",
               "attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'N' value { i: 2 } }");
  EXPECT_EQ(CallEach(body, "y:output:0", {-1, 2}), (std::vector<float>{-3, 4}));
}

// Defun: while_loop(i < 3, Print(i) + 1, x), called twice.
TEST(ConditionalsInFunctionsTest, EffectsInLoopsAreWaitedForAtTheirEnds) {
  const auto enter = [](const std::string& name, const std::string& input, const char* constant) {
    return BodyNode(name, "Enter", input,
                    std::string("attr { key: 'T' value { type: DT_FLOAT } } attr { key: "
                                "'frame_name' value { s: 'loop' } } attr { key: 'is_constant' "
                                "value { b: ") +
                        constant + " } }");
  };
  const std::string body =
      BodyFloat("three", "3") + BodyFloat("one", "1") + enter("start", "x", "false") +
      enter("limit", "three:output:0", "true") + enter("step", "one:output:0", "true") +
      BodyNode("i", "Merge", "start:output:0 next:output:0",
               "attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'N' value { i: 2 } }") +
      BodyNode("less", "Less", "i:output:0 limit:output:0") +
      BodyNode("go_on", "LoopCond", "less:z:0", "") +
      BodyNode("sides", "Switch", "i:output:0 go_on:output:0") +
      BodyPrint("show", "sides:output_true:0") +
      BodyNode("sum", "Add", "show:output:0 step:output:0") +
      BodyNode("next", "NextIteration", "sum:z:0") + BodyNode("y", "Exit", "sides:output_false:0");
  EXPECT_EQ(CallEach(body, "y:output:0", {0, 1.5}), (std::vector<float>{3, 3.5}));
}

// Graphs of nested conditionals over live, fed and constant predicates.
class RandomConditionals {
 public:
  RandomConditionals(unsigned seed, const std::vector<Output>& predicates)
      : random_(seed), predicates_(predicates) {}

  Output Make(Output x, int depth) {
    Output y = x;
    const int ops = Draw(4) + 1;
    for (int i = 0; i < ops; ++i) {
      switch (Draw(depth > 0 ? 7 : 4)) {
        case 0:
          y = y * 0.5 + x;
          break;
        case 1:
          y = Tanh(y) + (shared_ ? shared_ : x);
          break;
        case 2:
          y = y + Cast(Size(y), DType::kFloat);
          break;
        case 3:
          y = Maximum(y, Const(Tensor::Of<float>({0.25f, -0.5f, 0.75f})));
          break;
        default:
          y = Conditional(y, depth - 1);
      }
    }
    return y;
  }
  void Share(Output tensor) { shared_ = tensor; }

 private:
  int Draw(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  Output Conditional(Output x, int depth) {
    const Output pred = predicates_[Draw(static_cast<int>(predicates_.size()))];
    const SwitchOutputs sides = Switch(x, Draw(2) == 0 ? pred : Identity(pred));
    const Output on_false = Make(sides.output_false, depth);
    const Output on_true = Make(sides.output_true, depth);
    const MergeOutputs merged = Merge({on_false, on_true});
    return Draw(3) == 0 ? merged.output + Cast(merged.value_index, DType::kFloat) : merged.output;
  }

  std::mt19937 random_;
  const std::vector<Output>& predicates_;
  Output shared_;
};

TEST(RandomConditionalsTest, OptimizationKeepsValuesAndGradients) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Graph graph;
    const GraphScope scope(graph);
    const Variable flag_a("a", Tensor(seed % 2 == 0)), flag_b("b", Tensor(seed % 3 == 0));
    const Output fed = Placeholder(DType::kBool, Shape());
    const std::vector<Output> predicates = {flag_a.Read(), flag_b.Read(), fed,
                                            LogicalNot(flag_a.Read()), Const(Tensor(true))};
    const Output x = Placeholder(DType::kFloat, PartialShape{3});
    RandomConditionals make(seed, predicates);
    make.Share(StopGradient(Sigmoid(x)));  // branches use it as it is, without a Switch
    const Output y = make.Make(x, 3);
    std::vector<Output> fetches = {y, Tanh(y) * 2.0};
    const auto gradients = Gradients(y, {x});
    if (!gradients[0].none()) fetches.push_back(gradients[0].dense());
    SessionOptions parallel;
    parallel.optimizer.parallel_steps = ParallelSteps::kAlways;
    Session plain(graph, NoOptimization()), optimized(graph, parallel);
    plain.Run(GlobalVariablesInitializer());
    optimized.Run(GlobalVariablesInitializer());
    for (const bool value : {false, true}) {
      const FeedMap feeds = {{x, Tensor::Of<float>({0.5f, -1, 2})}, {fed, Tensor(value)}};
      const auto expected = plain.Run(feeds, fetches), found = optimized.Run(feeds, fetches);
      for (size_t i = 0; i < fetches.size(); ++i) {
        for (int64_t k = 0; k < expected[i].num_elements(); ++k) {
          ASSERT_NEAR(found[i].data<float>()[k], expected[i].data<float>()[k], 1e-5)
              << "seed " << seed << " fetch " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sextant
