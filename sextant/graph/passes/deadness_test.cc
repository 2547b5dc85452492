#include "sextant/graph/passes/deadness.h"

#include <gtest/gtest.h>

#include "sextant/graph/gradients.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/graph/passes/dead_branches.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

class DeadnessTest : public testing::Test {
 protected:
  Output Bool(const char* name) { return Placeholder(DType::kBool, Shape(), name); }
  Output Float(const char* name) { return Placeholder(DType::kFloat, Shape(), name); }

  // As of now, with the predicates that are known.
  Deadness Analyze(const std::vector<std::pair<Output, bool>>& known = {}) const {
    Deadness deadness;
    for (const Node* node : TopologicalOrder(graph_)) {
      std::optional<bool> value;
      if (node->type() == "Switch") {
        const auto [source, negated] = Deadness::SourceOfPredicate(node->input(1));
        for (const auto& [predicate, is] : known) {
          if (predicate == source) value = is != negated;
        }
      }
      deadness.Visit(*node, value);
    }
    return deadness;
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

// tf.cond(p, a, tf.cond(q, b, c)): only the whole is there in every run.
TEST_F(DeadnessTest, NestedConditionalsAreLiveWhereTheirMergesMeet) {
  const Output p = Bool("p"), q = Bool("q"), x = Float("x");
  const SwitchOutputs outer = Switch(x, p), inner_q = Switch(q, p);
  const SwitchOutputs inner = Switch(outer.output_false, inner_q.output_false);
  const Output b = inner.output_true + 1.0, c = inner.output_false + 2.0;
  const Output nested = Merge({c, b}).output, whole = Merge({nested, outer.output_true}).output;
  const Output half = Merge({c, outer.output_true}).output;
  Deadness deadness = Analyze();
  EXPECT_TRUE(deadness.AlwaysLive(whole));
  EXPECT_FALSE(deadness.AlwaysLive(nested));
  EXPECT_FALSE(deadness.AlwaysLive(half));
  EXPECT_FALSE(deadness.AlwaysLive(b));
  EXPECT_TRUE(deadness.LiveWith(nested, {{outer.output_false}}, {}));
  EXPECT_FALSE(deadness.NeverLive(b));

  deadness = Analyze({{p, true}});
  EXPECT_TRUE(deadness.NeverLive(nested));
  EXPECT_TRUE(deadness.AlwaysLive(outer.output_true));
  EXPECT_TRUE(deadness.AlwaysLive(half));
}

TEST_F(DeadnessTest, CopiesAndNegationsOfAPredicateAreThePredicate) {
  const Output p = Bool("p"), x = Float("x");
  const Output switch_t = Identity(Switch(p, p).output_true), pred_id = Identity(p);
  const SwitchOutputs by_not = Switch(x, LogicalNot(pred_id)), by_t = Switch(x, switch_t);
  const Output both = Switch(x, pred_id).output_true + by_not.output_true;
  const Output whole = Merge({Switch(x, p).output_false, by_not.output_false}).output;
  Deadness deadness = Analyze();
  EXPECT_TRUE(deadness.NeverLive(both));
  EXPECT_TRUE(deadness.AlwaysLive(whole));
  EXPECT_TRUE(deadness.NeverLive(by_t.output_false));
  EXPECT_FALSE(deadness.AlwaysLive(by_t.output_true));
}

TEST_F(DeadnessTest, NodesThatWereNotVisitedAreLive) {
  const Output x = Float("x");
  Deadness deadness = Analyze();
  std::vector<Output> later;
  for (int i = 0; i < 100; ++i) later.push_back(Identity(x));
  for (const Output& output : later) {
    EXPECT_TRUE(deadness.AlwaysLive(output));
    EXPECT_FALSE(deadness.NeverLive(*output.node()));
  }
  EXPECT_TRUE(deadness.LiveWith(x, later, {{later.back().node()}}));
}

TEST_F(DeadnessTest, ControlInputsKillNodesButNotMerges) {
  const Output p = Bool("p"), x = Float("x");
  const SwitchOutputs sides = Switch(x, p);
  const ControlDependencies after({Operation(Identity(sides.output_true).node())});
  const Output one = Const(Tensor(1.0f)), merged = Merge({x, x}).output;
  const Deadness deadness = Analyze();
  EXPECT_FALSE(deadness.AlwaysLive(one));
  EXPECT_TRUE(deadness.AlwaysLive(merged));
}

// The gradient of Merge asks the Merge which input it took.
TEST_F(DeadnessTest, GradientsOfAConditionalAreThereInEveryRun) {
  const Output p = Bool("p"), x = Float("x");
  const SwitchOutputs sides = Switch(x, p);
  const Output y = Merge({sides.output_false * 10.0, sides.output_true * 3.0}).output;
  const Output gradient = Gradients(y, {x})[0].dense();
  EXPECT_TRUE(Analyze().AlwaysLive(gradient));
}

TEST_F(DeadnessTest, BranchesNotTakenAreRemoved) {
  const Output p = Bool("p"), x = Float("x");
  const SwitchOutputs sides = Switch(x, Identity(p));
  const MergeOutputs y = Merge({sides.output_false * 10.0, sides.output_true * 3.0});
  const Output z = y.output + Cast(y.value_index, DType::kFloat);
  Deadness deadness = Analyze({{p, true}});
  BypassDeadBranches(graph_, deadness);
  RemoveUnneeded(graph_, {z.node()});
  for (int id = 0; id < graph_.num_nodes(); ++id) {
    EXPECT_NE(graph_.node(id)->type(), "Switch");
    EXPECT_NE(graph_.node(id)->type(), "Merge");
    EXPECT_NE(graph_.node(id)->name(), "p");
  }
  const Node* product = z.node()->input(0).node()->input(0).node();
  EXPECT_EQ(product->type(), "Mul");
  EXPECT_EQ(product->input(0).node()->type(), "Identity");
  EXPECT_EQ(product->input(0).node()->input(0), x);
}

}  // namespace
}  // namespace sextant
