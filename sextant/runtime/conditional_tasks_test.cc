// Conditionals of Switch and Merge with parts on several tasks give what they give in one process.
#include "sextant/runtime/conditional_tasks.h"

#include <gtest/gtest.h>

#include "sextant/sextant.h"
#include "sextant/testing/local_cluster_fixture.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class ConditionalTasksTest : public LocalClusterFixture {
 protected:
  static Output ReadThrough(Output handle) {
    return OpBuilder("ReadVariableOp").Input(handle).Attr("dtype", DType::kFloat).Build();
  }
  // In one process and on the tasks, for p false and true; afterwards the variables are the same.
  void ExpectValues(Output y, float if_false, float if_true) {
    Session alone(graph_), session(graph_, {}, cluster_.environment(0));
    for (Session* each : {&alone, &session}) {
      each->Run(GlobalVariablesInitializer());
      EXPECT_EQ(each->Run({{p_, Tensor(false)}}, y).scalar<float>(), if_false);
      EXPECT_EQ(each->Run({{p_, Tensor(true)}}, y).scalar<float>(), if_true);
    }
    for (const Variable& variable : CollectedVariables())
      EXPECT_TRUE(session.Run(variable.value()).Identical(alone.Run(variable.value())))
          << variable.name();
    EXPECT_EQ(cluster_.running(), 0);
  }

  const Output p_ = Placeholder(DType::kBool, {}, "p");
};

// As tf.cond does, which puts the Switch beside what it switches.
TEST_F(ConditionalTasksTest, ASwitchIsBesideTheVariable) {
  const Variable w = VariableOn(kPs0, "w", 3);
  SwitchOutputs sides;
  {
    const DeviceScope on(kPs0);
    sides = Switch(w.value(), p_);
  }
  ExpectValues(Merge({Neg(sides.output_false), Square(sides.output_true)}).output, -3, 9);
}

TEST_F(ConditionalTasksTest, BranchesMeetOnAThirdTask) {
  const Variable w = VariableOn(kPs0, "w", 3), v = VariableOn(kPs1, "v", 5);
  SwitchOutputs first, second;
  {
    const DeviceScope on(kPs0);
    first = Switch(w.value(), p_);
  }
  Output product;
  {
    const DeviceScope on(kPs1);
    second = Switch(v.value(), p_);
    product = first.output_true * second.output_true;
  }
  ExpectValues(Merge({Neg(first.output_false) + second.output_false, product}).output, 2, 15);
}

TEST_F(ConditionalTasksTest, AHandleGoesThroughASwitch) {
  const Variable w = VariableOn(kPs0, "w", 3);
  const Output read = ReadThrough(Switch(w.handle(), p_).output_true);
  const SwitchOutputs sides = Switch(Const(Tensor(7.0f)), p_);
  ExpectValues(Merge({Neg(sides.output_false), Square(read)}).output, -7, 9);
}

// What an op without inputs waits for inside of a branch.
TEST_F(ConditionalTasksTest, AVariableIsReadBehindThePivot) {
  const Variable w = VariableOn(kPs0, "w", 3);
  const SwitchOutputs pivots = Switch(p_, p_);
  Output read;
  {
    const ControlDependencies inside({Identity(pivots.output_true)});
    read = ReadVariable(w.handle());
  }
  const SwitchOutputs sides = Switch(Const(Tensor(7.0f)), p_);
  ExpectValues(Merge({sides.output_false, read * 2.0f}).output, 7, 6);
}

// The read keeps its place between changes.
TEST_F(ConditionalTasksTest, WhatIsReadBeforeIsReadInProgramOrder) {
  const Variable w = VariableOn(kPs0, "w", 3);
  const Output changed = w.AssignAdd(Const(Tensor(1.0f)));
  Output y;
  {
    const ControlDependencies after({changed});
    const Output read = ReadThrough(Switch(w.handle(), p_).output_true);
    const SwitchOutputs sides = Switch(Const(Tensor(7.0f)), p_);
    y = Merge({sides.output_false, read}).output;
  }
  {
    const ControlDependencies after({y});
    y = y + w.AssignAdd(Const(Tensor(10.0f)));
  }
  ExpectValues(y, 7 + 14, 15 + 25);
}

// The conditional runs where the variable is that it changes.
TEST_F(ConditionalTasksTest, ABranchChangesAVariable) {
  const Variable w = VariableOn(kPs0, "w", 3), v = VariableOn(kPs1, "v", 5);
  const SwitchOutputs sides = Switch(Const(Tensor(5.0f)), p_);
  const Output read = ReadThrough(Switch(v.handle(), p_).output_true);
  const Output updated = w.AssignAdd(sides.output_true + read);
  ExpectValues(Merge({sides.output_false, updated}).output, 5, 13);
}

// The branch waits for a value that is computed here, the read behind it for nothing.
TEST_F(ConditionalTasksTest, WhatABranchChangesIsReadInProgramOrder) {
  const Variable w = VariableOn(kPs0, "w", 3), v = VariableOn(kPs0, "v", 5);
  const SwitchOutputs sides = Switch(Square(w.value()), p_);
  const Operation change = OpBuilder("AssignAddVariableOp")
                               .Input(Switch(v.handle(), p_).output_true)
                               .Input(sides.output_true)
                               .BuildOperation();
  Output changed;
  {
    const ControlDependencies after({change});
    changed = Identity(sides.output_true);
  }
  const Output merged = Merge({sides.output_false, changed}).output;
  ExpectValues(merged * 100.0f + ReadVariable(v.handle()), 905, 914);
}

// Which variable it is, the predicate says.
TEST_F(ConditionalTasksTest, ChangesOfOneOfSeveralVariablesKeepTheOrderOfTheProgram) {
  const Variable w = VariableOn(kPs0, "w", 3), v = VariableOn(kPs0, "v", 5);
  const Output added = Square(w.value());
  const Output before = ReadVariable(v.handle());
  {
    const DeviceScope on(kPs0);
    const Output handle =
        Merge({Switch(w.handle(), p_).output_false, Switch(v.handle(), p_).output_true}).output;
    OpBuilder("AssignAddVariableOp").Input(handle).Input(added).Name("change").BuildOperation();
  }
  const Output after = ReadVariable(v.handle());
  Output y;
  {
    const ControlDependencies changed({graph_.FindOperation("change")});
    y = Identity(before) * 100.0f + after;
  }
  ExpectValues(y, 505, 649);
}

TEST_F(ConditionalTasksTest, ConditionalsMayBeNested) {
  const Variable w = VariableOn(kPs0, "w", 3);
  SwitchOutputs outer, inner;
  {
    const DeviceScope on(kPs0);
    outer = Switch(w.value(), p_);
    inner = Switch(outer.output_true, Greater(outer.output_true, Const(Tensor(2.0f))));
  }
  const Output within = Merge({Neg(inner.output_false), Square(inner.output_true)}).output;
  Output more;
  {
    const DeviceScope on(kPs1);
    more = within + 1.0f;
  }
  ExpectValues(Merge({outer.output_false, more}).output, 3, 10);
}

// What is switched comes from calls of different levels.
TEST_F(ConditionalTasksTest, PartOfTheInputIsComputedElsewhere) {
  const Variable w = VariableOn(kPs0, "w", 3);
  const Output square = Square(w.value());  // here
  Output y;
  {
    const DeviceScope on(kPs0);
    const SwitchOutputs early = Switch(w.value(), p_), late = Switch(square, p_);
    y = Merge({Neg(early.output_false), Tanh(early.output_true) * 0.0f + late.output_true}).output;
  }
  ExpectValues(y + 1.0f, -2, 10);
}

TEST_F(ConditionalTasksTest, ABranchChangesAVariableByWhatIsComputedElsewhere) {
  const Variable w = VariableOn(kPs0, "w", 3), v = VariableOn(kPs1, "v", 5);
  const Output product = w.value() * v.value();  // here
  const Output early = Switch(w.value(), p_).output_true, late = Switch(product, p_).output_true;
  const Output updated = w.AssignAdd(late - early);
  ExpectValues(Merge({Switch(product, p_).output_false, updated}).output, 15, 15);
}

// It would have to run before the call and after it.
TEST_F(ConditionalTasksTest, WhatGoesOutAndComesBackIsRefused) {
  const Variable w = VariableOn(kPs0, "w", 3);
  const auto on_server = [&](const std::function<Output()>& build) { return On(kPs0, build); };
  const SwitchOutputs sides = Switch(w.value(), p_);
  const Output negative = on_server([&] { return Neg(w.AssignAdd(sides.output_true)); });
  const Output merged = on_server([&] { return Merge({sides.output_false, negative}).output; });
  const Output square = Square(merged);  // here
  const Output y = on_server([&] {
    const SwitchOutputs back = Switch(square, p_);
    return Merge({back.output_false, back.output_true + negative}).output;
  });
  Session session(graph_, {}, cluster_.environment(0));
  session.Run(GlobalVariablesInitializer());
  const Status status = StatusOf([&] { session.Run({{p_, Tensor(true)}}, y); });
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_NE(status.message().find("is on one task, but waits"), std::string::npos)
      << status.message();
}

// The Merge of the inner conditional is dead with the branch of the outer one.
TEST_F(ConditionalTasksTest, AnInnerMergeDoesNotLeaveItsTaskEither) {
  const Variable w = VariableOn(kPs0, "w", 3), v = VariableOn(kPs1, "v", 5);
  const Output q = Placeholder(DType::kBool, {}, "q");
  Output within;
  {
    const DeviceScope on(kPs0);
    const SwitchOutputs outer = Switch(Const(Tensor(5.0f)), p_);
    const SwitchOutputs inner = Switch(w.AssignAdd(outer.output_true), q);
    within = Merge({Neg(inner.output_false), Square(inner.output_true)}).output;
  }
  const Operation change = AssignVariable(v.handle(), within);
  Session session(graph_, {}, cluster_.environment(0));
  session.Run(GlobalVariablesInitializer());
  for (const bool taken : {false, true}) {
    const FeedMap feeds = {{p_, Tensor(taken)}, {q, Tensor(true)}};
    const Status status = StatusOf([&] { session.Run(feeds, change); });
    EXPECT_EQ(status.code(), Code::kUnimplemented) << taken << ": " << status.message();
  }
}

// Both Merges look at one predicate, so that no branch is left open.
TEST_F(ConditionalTasksTest, WhatHasAlwaysAValueMayLeaveItsTask) {
  const Variable w = VariableOn(kPs0, "w", 3);
  Output y;
  {
    const DeviceScope on(kPs0);
    const SwitchOutputs first = Switch(w.AssignAdd(Const(Tensor(1.0f))), p_);
    const Output q = Greater(first.output_true, Const(Tensor(2.0f)));
    const SwitchOutputs second = Switch(first.output_true, q);
    const Output high = Merge({first.output_false, second.output_true}).output;
    y = Merge({high, Neg(second.output_false)}).output;
  }
  ExpectValues(Square(y), 16, 25);
}

TEST_F(ConditionalTasksTest, ChangesOnTwoTasksAreRefused) {
  const Variable w = VariableOn(kPs0, "w", 3), v = VariableOn(kPs1, "v", 5);
  const SwitchOutputs sides = Switch(Const(Tensor(5.0f)), p_);
  const Output updated = v.AssignAdd(w.AssignAdd(sides.output_true));
  const Output y = Merge({sides.output_false, updated}).output;
  Session session(graph_, {}, cluster_.environment(0));
  session.Run(GlobalVariablesInitializer());
  const Status status = StatusOf([&] { session.Run({{p_, Tensor(true)}}, y); });
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_NE(status.message().find("must be on one task"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace sextant
