// Steps that are fused into one sweep give the same bits as one by one, and keep their order.
#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/gradients.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/l2_loss.h"
#include "sextant/ops/math/trig.h"
#include "sextant/ops/state/variable.h"
#include "sextant/ops/training/apply_adagrad.h"
#include "sextant/ops/training/apply_adam.h"
#include "sextant/ops/training/apply_ftrl.h"
#include "sextant/ops/training/apply_rms_prop.h"
#include "sextant/ops/training/apply_sgd.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/pseudo_random.h"

namespace sextant {
namespace {

Tensor Numbers(const Shape& shape, int seed, float low = -2) {
  return PseudoRandom(shape, static_cast<uint32_t>(seed), low, low + 2);
}

Output F(float value) { return Const(Tensor(value)); }

class ApplyManyTest : public testing::Test {
 protected:
  struct Outcome {
    std::vector<Tensor> values;  // fetched in the last step, then all variables
    int sweeps = 0, updates = 0, steps = 0;
  };

  Variable Var(const Shape& shape, float low = -2) {
    return variables_.emplace_back("v", Numbers(shape, ++seed_, low));
  }
  Output Value(const Shape& shape) { return Const(Numbers(shape, ++seed_)); }

  Outcome RunSteps(Operation train, const std::vector<Output>& fetches, bool fuse) {
    Session session(graph_, {.optimizer = {.fuse_updates = fuse}});
    for (const Variable& v : variables_) session.Run(v.initializer());
    Outcome outcome;
    for (int step = 0; step < 3; ++step) {
      StepTrace trace;
      outcome.values = session.Run(FeedMap{}, fetches, {train}, {.trace = &trace});
      outcome.sweeps = outcome.updates = outcome.steps = 0;
      for (const auto& event : trace.events()) {
        ++outcome.steps;
        outcome.sweeps += event.op == "_ApplyMany";
        outcome.updates += event.op.starts_with("ResourceApply");
      }
    }
    for (const Variable& v : variables_) outcome.values.push_back(session.Run(v.value()));
    return outcome;
  }

  // The same bits fused and one by one; gives what happened when fused.
  Outcome ExpectSame(Operation train, const std::vector<Output>& fetches = {}) {
    const Outcome plain = RunSteps(train, fetches, false);
    Outcome fused = RunSteps(train, fetches, true);
    EXPECT_EQ(plain.sweeps, 0);
    for (size_t i = 0; i < plain.values.size(); ++i) {
      EXPECT_TRUE(fused.values[i].Identical(plain.values[i])) << "value " << i;
    }
    return fused;
  }
  static Operation Group(const std::vector<Operation>& operations) {
    return OpBuilder("NoOp").ControlInputs(operations).BuildOperation();
  }

  Graph graph_;
  GraphScope scope_{graph_};
  std::vector<Variable> variables_;
  int seed_ = 0;
};

TEST_F(ApplyManyTest, ManyVariablesInOneSweep) {
  std::vector<Operation> updates;
  for (const Shape& shape : {Shape{3, 5}, Shape{1}, Shape{0, 4}, Shape{70'001}, Shape{17}}) {
    const Variable var = Var(shape), accum = Var(shape);
    updates.push_back(ResourceApplyMomentum(var.handle(), accum.handle(), F(0.1f), Value(shape),
                                            F(0.9f), {.use_nesterov = true}));
  }
  const Outcome outcome = ExpectSame(Group(updates));
  EXPECT_EQ(outcome.sweeps, 1);
  EXPECT_EQ(outcome.updates, 0);
}

TEST_F(ApplyManyTest, ASweepLocksAtMostSixtyVariables) {
  std::vector<Operation> updates;
  for (int i = 0; i < 70; ++i) {
    const Variable var = Var({i}), accum = Var({i});
    updates.push_back(ResourceApplyMomentum(var.handle(), accum.handle(), F(0.1f), Value({i}),
                                            F(0.9f), {.use_nesterov = true}));
  }
  const Outcome outcome = ExpectSame(Group(updates));
  EXPECT_EQ(outcome.sweeps, 3);
  EXPECT_EQ(outcome.updates, 0);
}

TEST_F(ApplyManyTest, EveryKindOfOptimizer) {
  std::vector<Operation> updates;
  for (const Shape& shape : {Shape{3, 5}, Shape{19}}) {
    const auto v = [&] { return Var(shape).handle(); };
    const auto positive = [&] { return Var(shape, 0.5f).handle(); };
    updates.push_back(ResourceApplyGradientDescent(v(), F(0.1f), Value(shape)));
    updates.push_back(ResourceApplyAdam(v(), v(), positive(), F(0.9f), F(0.99f), F(0.1f), F(0.9f),
                                        F(0.99f), F(1e-3f), Value(shape)));
    updates.push_back(ResourceApplyRMSProp(v(), positive(), v(), F(0.1f), F(0.9f), F(0.5f), F(0.1f),
                                           Value(shape)));
    updates.push_back(ResourceApplyAdagrad(v(), positive(), F(0.1f), Value(shape)));
    updates.push_back(
        ResourceApplyFtrl(v(), positive(), v(), Value(shape), F(0.1f), F(0.2f), F(0.1f), F(-0.5f)));
    updates.push_back(ResourceApplyAdagradDA(v(), v(), positive(), Value(shape), F(0.1f), F(0.2f),
                                             F(0.1f), Const(Tensor(int64_t{3}))));
  }
  const Outcome outcome = ExpectSame(Group(updates));
  EXPECT_EQ(outcome.sweeps, 6);
  EXPECT_EQ(outcome.updates, 0);
}

TEST_F(ApplyManyTest, OtherScalarsMakeAnotherSweep) {
  std::vector<Operation> updates;
  for (const float rate : {0.1f, 0.2f, 0.1f, 0.2f}) {
    updates.push_back(ResourceApplyGradientDescent(Var({7}).handle(), F(rate), Value({7})));
  }
  EXPECT_EQ(ExpectSame(Group(updates)).sweeps, 2);
}

TEST_F(ApplyManyTest, ScalarsReadFromAVariableThatChangesAfterwards) {
  const Variable rate("rate", Tensor(0.5f));
  variables_.push_back(rate);
  std::vector<Operation> updates;
  for (int i = 0; i < 3; ++i) {
    updates.push_back(ResourceApplyGradientDescent(Var({5}).handle(), rate.Read(), Value({5})));
  }
  Operation decayed;
  {
    const ControlDependencies after(updates);
    decayed = Operation(rate.Assign(rate.Read() * 0.5).node());
  }
  const Outcome outcome = ExpectSame(decayed);
  EXPECT_EQ(outcome.sweeps, 1);
  EXPECT_EQ(outcome.updates, 0);
}

TEST_F(ApplyManyTest, DecayJoinsTheSweep) {
  std::vector<Output> losses;
  std::vector<Variable> weights;
  for (const Shape& shape : {Shape{4, 6}, Shape{33}, Shape{2, 3, 5}}) {
    weights.push_back(Var(shape));
    losses.push_back(L2Loss(Sin(weights.back())));
    losses.push_back(L2Loss(weights.back()) * 0.01);
  }
  std::vector<Output> xs(weights.begin(), weights.end());
  const auto grads = Gradients(AddN(losses), xs);
  std::vector<Operation> updates;
  for (size_t i = 0; i < weights.size(); ++i) {
    const Variable accum = Var(weights[i].shape().AsShape());
    updates.push_back(ResourceApplyMomentum(weights[i].handle(), accum.handle(), F(0.1f),
                                            grads[i].dense(), F(0.9f)));
  }
  const Operation train = Group(updates);
  const Outcome outcome = ExpectSame(train);
  EXPECT_EQ(outcome.sweeps, 1);
  // Read, cosine with its factor and the sweep are left: no addition, no product with the decay.
  Session session(graph_);
  for (const Variable& v : variables_) session.Run(v.initializer());
  StepTrace trace;
  session.Run(FeedMap{}, std::vector<Output>{}, {train}, {.trace = &trace});
  for (const auto& event : trace.events()) EXPECT_NE(event.op, "AddN") << event.node;
}

TEST_F(ApplyManyTest, DecayOfASingleVariable) {
  const Variable w = Var({40});
  const Output grad = Value({40}) + w.value() * F(0.25f);
  const Outcome outcome = ExpectSame(ResourceApplyGradientDescent(w.handle(), F(0.1f), grad));
  EXPECT_EQ(outcome.sweeps, 1);
}

TEST_F(ApplyManyTest, DecayThatOthersReadStays) {
  const Variable w = Var({40});
  const Output product = w.value() * F(0.25f);
  const Output grad = Value({40}) + product;
  const Outcome outcome =
      ExpectSame(ResourceApplyGradientDescent(w.handle(), F(0.1f), grad), {product});
  EXPECT_EQ(outcome.sweeps, 0);
}

TEST_F(ApplyManyTest, DecayOfAValueThatChangedSinceStays) {
  const Variable w = Var({40});
  const Output grad = Value({40}) + w.Read() * F(0.25f);
  const ControlDependencies after({Operation(w.AssignAdd(Identity(grad)).node())});
  const Outcome outcome = ExpectSame(ResourceApplyGradientDescent(w.handle(), F(0.1f), grad));
  EXPECT_EQ(outcome.sweeps, 0);
}

TEST_F(ApplyManyTest, UpdatesOfOneVariableStayInOrder) {
  const Variable w = Var({9}), other = Var({9});
  const Operation first = ResourceApplyGradientDescent(w.handle(), F(0.1f), w.Read());
  const Operation second = ResourceApplyGradientDescent(other.handle(), F(0.1f), Value({9}));
  Operation third;
  {
    const ControlDependencies after({first});
    third = ResourceApplyGradientDescent(w.handle(), F(0.1f), w.Read());
  }
  ExpectSame(Group({first, second, third}));
}

TEST_F(ApplyManyTest, ReadsBetweenUpdatesSeeWhatTheySaw) {
  const Variable a = Var({9}), b = Var({9});
  const Operation first = ResourceApplyGradientDescent(a.handle(), F(0.1f), Value({9}));
  Output seen;
  {
    const ControlDependencies after({first});
    seen = a.Read();
  }
  const Operation second = ResourceApplyGradientDescent(b.handle(), F(0.1f), seen);
  const Outcome outcome = ExpectSame(Group({first, second}), {seen});
  EXPECT_EQ(outcome.sweeps, 0);
  EXPECT_EQ(outcome.updates, 2);
}

TEST_F(ApplyManyTest, ReadsBeforeTheUpdateSeeTheOldValue) {
  const Variable a = Var({9}), b = Var({9});
  const Output old = a.Read();
  Operation first, second;
  {
    const ControlDependencies after({Operation(old.node())});
    first = ResourceApplyGradientDescent(a.handle(), F(0.1f), Value({9}));
    second = ResourceApplyGradientDescent(b.handle(), F(0.1f), Value({9}));
  }
  EXPECT_EQ(ExpectSame(Group({first, second}), {old}).sweeps, 1);
}

TEST_F(ApplyManyTest, WhoWaitsForOneWaitsForAll) {
  const Variable a = Var({9}), b = Var({9}), c = Var({9}), count("count", Tensor(0.0f));
  variables_.push_back(count);
  const Operation first = ResourceApplyGradientDescent(a.handle(), F(0.1f), Value({9}));
  const Operation second = ResourceApplyGradientDescent(b.handle(), F(0.1f), Value({9}));
  Output counted;
  {
    const ControlDependencies after({first});
    counted = count.AssignAdd(F(1));
  }
  // Comes after the count, which waits for the first two.
  const ControlDependencies after({Operation(counted.node())});
  const Operation third = ResourceApplyGradientDescent(c.handle(), F(0.1f), Value({9}));
  const Outcome outcome = ExpectSame(Group({first, second, third}), {counted});
  EXPECT_EQ(outcome.sweeps, 1);
  EXPECT_EQ(outcome.updates, 1);
}

// Programs of reads, assignments and updates in any order, some waiting for earlier ones.
TEST(ApplyManyRandomTest, AnyProgramGivesTheSameBits) {
  int sweeps = 0;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    uint32_t state = seed * 2654435761u;
    const auto below = [&](size_t limit) {
      state = state * 1664525u + 1013904223u;
      return (state >> 10) % limit;
    };
    Graph graph;
    const GraphScope use(graph);
    std::vector<Variable> variables;
    for (int i = 0; i < 5; ++i) variables.emplace_back("v", Numbers({6}, i));
    const Output rates[] = {F(0.1f), F(0.2f)};
    std::vector<Output> tensors = {Const(Numbers({6}, 99))}, fetches;
    std::vector<Operation> operations;
    for (int i = 0; i < 24; ++i) {
      std::vector<Operation> before;
      if (!operations.empty() && below(4) == 0)
        before.push_back(operations[below(operations.size())]);
      const ControlDependencies after(before);
      const Variable& variable = variables[below(variables.size())];
      const Output tensor = tensors[below(tensors.size())];
      switch (below(6)) {
        case 0:
          tensors.push_back(variable.Read());
          if (below(2) == 0) fetches.push_back(tensors.back());
          break;
        case 1:
          operations.push_back(AssignVariable(variable.handle(), tensor));
          break;
        case 2:
          operations.push_back(ResourceApplyGradientDescent(
              variable.handle(), rates[below(2)], AddN({tensor, variable.Read() * rates[0]})));
          break;
        default:
          operations.push_back(
              ResourceApplyGradientDescent(variable.handle(), rates[below(2)], tensor));
      }
    }
    const auto run = [&](bool fuse) {
      Session session(graph, {.optimizer = {.fuse_updates = fuse}});
      for (const Variable& v : variables) session.Run(v.initializer());
      StepTrace trace;
      std::vector<Tensor> values = session.Run(FeedMap{}, fetches, operations, {.trace = &trace});
      for (const auto& event : trace.events()) sweeps += event.op == "_ApplyMany";
      for (const Variable& v : variables) values.push_back(session.Run(v.value()));
      return values;
    };
    const std::vector<Tensor> plain = run(false), fused = run(true);
    for (size_t i = 0; i < plain.size(); ++i) {
      EXPECT_TRUE(fused[i].Identical(plain[i])) << "seed " << seed << " value " << i;
    }
  }
  EXPECT_GT(sweeps, 150);
}

TEST_F(ApplyManyTest, WrongShapesStayErrors) {
  const Variable a = Var({9}), b = Var({9});
  const Output grad = OpBuilder("Placeholder").Attr("dtype", DType::kFloat).Build();
  const Operation train = Group({ResourceApplyGradientDescent(a.handle(), F(0.1f), Value({9})),
                                 ResourceApplyGradientDescent(b.handle(), F(0.1f), grad)});
  Session session(graph_);
  for (const Variable& v : variables_) session.Run(v.initializer());
  EXPECT_THROW(session.Run({{grad, Numbers({3}, 1)}}, train), Error);
  EXPECT_TRUE(session.Run(a.value()).Identical(Numbers({9}, 1)));
}

}  // namespace
}  // namespace sextant
