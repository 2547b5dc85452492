#include "sextant/train/run_state.h"

#include <gtest/gtest.h>

#include "sextant/data/tensor_sources.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/dataset/graph_iterator.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"

namespace sextant::train {
namespace {

// A process that reads 0, 1, 2 …
struct Process {
  Process() {
    const GraphScope use(graph);
    state = std::make_unique<RunState>();
    variable = CollectedVariables().back();
    given = Placeholder(DType::kString, PartialShape({}));
    set = AssignVariable(variable.handle(), given);
    next = data::OneShotIterator(data::Range(0, 100)).GetNext().fields()[0].second;
    session = std::make_unique<Session>(graph);
    session->Run(GlobalVariablesInitializer());
  }
  int64_t Read(int count = 1) {
    for (; count > 1; --count) session->Run(next);
    return session->Run(next).scalar<int64_t>();
  }
  // As a checkpoint does it.
  void CopyFrom(Process& other) {
    session->Run({{given, other.session->Run(other.variable.value())}}, set);
  }

  Graph graph;
  std::unique_ptr<RunState> state;
  Variable variable;
  Output given, next;
  Operation set;
  std::unique_ptr<Session> session;
};

TEST(RunStateTest, AClusterKeepsATableByRank) {
  Process chief, worker;
  EXPECT_EQ(chief.Read(3), 2);
  EXPECT_EQ(worker.Read(7), 6);
  chief.state->CaptureCluster(
      *chief.session, {},
      {.input = "blocks", .ranks = {{1, RunState::StateOf(*worker.session, {})}, {2, ""}}});
  const ClusterRunState others = chief.state->OthersIn(*chief.session);
  EXPECT_EQ(others.input, "blocks");
  ASSERT_EQ(others.ranks.size(), 2u);
  Process worker_again;
  RunState::ApplyState(others.ranks.at(1), *worker_again.session, {});
  EXPECT_EQ(worker_again.Read(), 7);
  RunState::ApplyState(others.ranks.at(2), *worker_again.session, {});  // nothing is known of it
  EXPECT_EQ(worker_again.Read(), 8);

  // The chief, or a process that goes on alone, has rank 0.
  Process chief_again;
  chief_again.CopyFrom(chief);
  chief_again.state->Apply(*chief_again.session, {});
  EXPECT_EQ(chief_again.Read(), 3);
}

TEST(RunStateTest, AClusterGoesOnFromTheStateOfOneProcess) {
  Process alone;
  EXPECT_EQ(alone.Read(4), 3);
  alone.state->Capture(*alone.session, {});
  const ClusterRunState others = alone.state->OthersIn(*alone.session);
  EXPECT_TRUE(others.ranks.empty());
  EXPECT_TRUE(others.input.empty());
  Process chief;
  chief.CopyFrom(alone);
  chief.state->Apply(*chief.session, {});
  EXPECT_EQ(chief.Read(), 4);
}

TEST(RunStateTest, NothingIsAppliedWhenThereIsNone) {
  Process process;
  process.state->Apply(*process.session, {});
  EXPECT_TRUE(process.state->OthersIn(*process.session).ranks.empty());
  EXPECT_EQ(process.Read(), 0);
}

}  // namespace
}  // namespace sextant::train
