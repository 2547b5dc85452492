#include "sextant/runtime/update_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sextant/graph/gradient_mark.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/runtime/fragments.h"
#include "sextant/sextant.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

constexpr char kWorker[] = "/job:worker/replica:0/task:0";
constexpr char kFirst[] = "/job:ps/replica:0/task:0";
constexpr char kSecond[] = "/job:ps/replica:0/task:1";
const char* const kRate = "rate";

using Fragments = std::vector<std::shared_ptr<const Fragment>>;

std::string CpuOf(std::string_view task) { return std::string(task) + "/device:CPU:0"; }

// Two variables on two servers whose gradients come from the worker, and a step that is counted.
struct SyncGraph {
  SyncGraph() : use(graph) {
    w = MakeVariable(kFirst, "w");
    u = MakeVariable(kSecond, "u");
    step = MakeVariable(kFirst, "step");
    const Output gradient = Placeholder(DType::kFloat, {2}, "gradient");
    rate = Placeholder(DType::kFloat, {}, kRate);
    updates = {Update(kFirst, w, Exp(gradient), "update_w"),
               Update(kSecond, u, Neg(gradient), "update_u")};
    const ControlDependencies after(updates);
    const DeviceScope on(CpuOf(kFirst));
    counted = AssignVariable(step.handle(), Const(Tensor::Of<float>({1, 1})));
  }

  static Variable MakeVariable(std::string_view task, const std::string& name) {
    const DeviceScope on(CpuOf(task));
    return Variable(name, Tensor::Of<float>({1, 2}));
  }
  Operation Update(std::string_view task, const Variable& variable, Output gradient,
                   const char* name) {
    const Output mean =
        MarkGradient(gradient, {.replicas_to_aggregate = 3, .total_num_replicas = 3});
    const DeviceScope on(CpuOf(task));
    const NameScope scope(name);
    return ResourceApplyGradientDescent(variable.handle(), rate, mean);
  }
  Fragments Cut(const std::vector<Operation>& targets, const std::vector<Output>& fetches = {}) {
    std::vector<Node*> controls;
    for (const Operation& target : targets) controls.push_back(target.node());
    Node* sink = graph.AddNode(
        {.name = "sink",
         .op = graph.FindOp(fetches.empty() ? "NoOp" : "IdentityN"),
         .inputs = fetches,
         .control_inputs = controls,
         .attrs = fetches.empty()
                      ? AttrMap{}
                      : AttrMap{{"T", std::vector<DType>(fetches.size(), DType::kFloat)}}});
    RemoveUnneeded(graph, {sink});
    return CutFragments(graph, kWorker, {sink});
  }

  Graph graph;
  GraphScope use;
  Variable w, u, step;
  Output rate;
  std::vector<Operation> updates;
  Operation counted;
};

Fragments Summed(const Fragments& all) {
  Fragments summed;
  std::ranges::copy_if(all, std::back_inserter(summed), [](const auto& f) { return bool(f->sum); });
  std::ranges::sort(summed, {}, [](const auto& f) { return f->sum->part; });
  return summed;
}

std::multiset<std::string> OpsOf(const Fragment& fragment) {
  proto::GraphDef def;
  EXPECT_TRUE(def.ParseFromString(fragment.graph_def));
  std::multiset<std::string> ops;
  for (const auto& node : def.node()) ops.insert(node.op());
  return ops;
}

TEST(UpdateNodesTest, WhatFollowsTheMarksIsOnePartPerServerAndStage) {
  SyncGraph graph;
  const Fragments all = graph.Cut({graph.counted});
  const Fragments parts = Summed(all);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(all.size(), 3u);  // nothing is read here
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(parts[i]->sum->part, static_cast<int>(i));
    EXPECT_EQ(parts[i]->sum->num_parts, 3);
    EXPECT_TRUE(parts[i]->fetches.empty());
    EXPECT_TRUE(parts[i]->kept.empty());
  }
  EXPECT_EQ(parts[0]->task, kFirst);
  EXPECT_EQ(parts[0]->sum->stage, 0);
  EXPECT_EQ(parts[1]->task, kSecond);
  EXPECT_EQ(parts[1]->sum->stage, 0);
  EXPECT_EQ(parts[2]->task, kFirst);  // counts behind both
  EXPECT_EQ(parts[2]->sum->stage, 1);
  EXPECT_EQ(OpsOf(*parts[2]),
            (std::multiset<std::string>{"AssignVariableOp", "Const", "VarHandleOp"}));
  // The mean of three gradients; the rate comes once.
  EXPECT_EQ(std::ranges::count(parts[0]->sum->gradient, true), 1);
  EXPECT_EQ(parts[0]->feeds.size(), 2u);
  const auto ops = OpsOf(*parts[0]);
  EXPECT_EQ(ops.count("Placeholder"), 4u);
  EXPECT_EQ(ops.count("AddN"), 1u);
  EXPECT_EQ(ops.count("Mul"), 1u);
  EXPECT_EQ(ops.count("ResourceApplyGradientDescent"), 1u);
}

// Contributions go out at once: no call waits for another.
TEST(UpdateNodesTest, ContributionsDoNotWaitForEachOther) {
  SyncGraph graph;
  graph.Cut({graph.counted});
  int starts = 0, finishes_seen = 0;
  for (int id = 0; id < graph.graph.num_nodes(); ++id) {
    const Node* node = graph.graph.node(id);
    if (node->type() == "_CallFinish") ++finishes_seen;
    if (node->type() != "_CallStart") continue;
    ++starts;
    EXPECT_EQ(finishes_seen, 0);
  }
  EXPECT_EQ(starts, 3);
}

// Workers that fetch more than others contribute to the same sums.
TEST(UpdateNodesTest, TheSumDoesNotDependOnWhatElseIsRun) {
  SyncGraph plain, curious;
  const Output step_after = [&] {
    const ControlDependencies after({curious.counted});
    const DeviceScope on(CpuOf(kFirst));
    return ReadVariable(curious.step.handle());
  }();
  const Output weight = [&] {
    const DeviceScope on(CpuOf(kSecond));
    return ReadVariable(curious.u.handle());
  }();
  const Fragments a = Summed(plain.Cut({plain.counted}));
  const Fragments all = curious.Cut({curious.counted}, {Exp(step_after), weight});
  const Fragments b = Summed(all);
  ASSERT_EQ(a.size(), 3u);
  ASSERT_EQ(b.size(), 3u);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i]->sum->key, b[i]->sum->key) << i;
  // The step is read by a call of its own, behind the contributions.
  EXPECT_EQ(all.size(), 5u);
  const auto reads = std::ranges::find_if(
      all, [](const auto& f) { return !f->sum && f->task == kFirst && !f->fetches.empty(); });
  ASSERT_NE(reads, all.end());
}

// A learning rate that follows the step, in a run that logs it and in one that does not.
TEST(UpdateNodesTest, AFetchedLearningRateChangesNothing) {
  std::vector<Fragments> runs;
  for (const bool logged : {false, true}) {
    SyncGraph graph;
    const Output count = [] {
      const DeviceScope on(CpuOf(kFirst));
      return ReadVariable(Variable("count", Tensor(3.0f)).handle());
    }();
    graph.rate = count * 0.5f;
    const Operation update =
        graph.Update(kFirst, graph.w, Placeholder(DType::kFloat, {2}), "scheduled");
    runs.push_back(
        Summed(graph.Cut({update}, logged ? std::vector{graph.rate} : std::vector<Output>{})));
    ASSERT_EQ(runs.back().size(), 1u);
  }
  EXPECT_EQ(runs[0][0]->sum->key, runs[1][0]->sum->key);
}

// A moving average: nodes of the worker lie between two updates.
TEST(UpdateNodesTest, NodesBetweenUpdatesMoveToTheServer) {
  SyncGraph graph;
  const Variable average = SyncGraph::MakeVariable(kFirst, "average");
  Operation moved;
  {
    const ControlDependencies after(graph.updates);
    const Output decay = Exp(Const(Tensor(0.5f)));  // here, only behind the updates
    const Output value = [&] {
      const DeviceScope on(CpuOf(kFirst));
      return ReadVariable(graph.w.handle());
    }();
    const Output share = value * decay;  // here, of a value of the update
    const DeviceScope on(CpuOf(kFirst));
    moved = AssignVariable(average.handle(), share);
  }
  const Fragments parts = Summed(graph.Cut({graph.counted, moved}));
  ASSERT_EQ(parts.size(), 3u);
  const auto ops = OpsOf(*parts[2]);
  EXPECT_EQ(ops.count("AssignVariableOp"), 2u);
  EXPECT_EQ(ops.count("Mul"), 1u);
  EXPECT_EQ(parts[2]->feeds.size(), 1u);  // the decay, which is computed here
  EXPECT_EQ(parts[2]->sum->gradient, std::vector<bool>{false});
}

// Sparse Adam: an average decays, then rows are added to it. The decay does not wait for a
// gradient, but must not be run by every worker.
TEST(UpdateNodesTest, EarlierChangesOfAVariableAreOfTheUpdate) {
  SyncGraph graph;
  const Variable m = SyncGraph::MakeVariable(kFirst, "m");
  const Variable statistics = SyncGraph::MakeVariable(kFirst, "statistics");
  const Output value = [&] {
    const DeviceScope on(CpuOf(kFirst));
    return ReadVariable(m.handle());
  }();
  const Output decayed = value * Const(Tensor(0.9f));  // here, of a variable there
  const Operation shrink = [&] {
    const DeviceScope on(CpuOf(kFirst));
    return AssignVariable(m.handle(), decayed);
  }();
  // As batch norm has them: each worker runs them.
  const Operation noted = [&] {
    const DeviceScope on(CpuOf(kFirst));
    return AssignVariable(statistics.handle(), Const(Tensor::Of<float>({3, 4})));
  }();
  const Output gradient = Placeholder(DType::kFloat, {2}, "g");
  const ControlDependencies after({shrink, noted});
  const Operation moved = graph.Update(kFirst, m, gradient, "move");
  const Fragments all = graph.Cut({moved});
  const Fragments parts = Summed(all);
  ASSERT_EQ(parts.size(), 1u);
  const auto ops = OpsOf(*parts[0]);
  EXPECT_EQ(ops.count("AssignVariableOp"), 1u);
  EXPECT_EQ(ops.count("ReadVariableOp"), 1u);
  EXPECT_EQ(ops.count("Mul"), 2u);        // the decay, and the mean
  EXPECT_EQ(parts[0]->feeds.size(), 2u);  // the gradient and the rate
  EXPECT_EQ(all.size(), 2u);              // and the statistics
}

TEST(UpdateNodesTest, RowsAreJoinedAndConstantIndicesToo) {
  SyncGraph graph;
  const DeviceScope on(CpuOf(kFirst));
  const GradientMark mark{.kind = GradientMark::Kind::kRows, .replicas_to_aggregate = 2};
  GradientMark index_mark = mark;
  index_mark.kind = GradientMark::Kind::kIndices;
  Output values, indices;
  {
    const DeviceScope here(CpuOf(kWorker));
    values = Placeholder(DType::kFloat, {-1}, "values");
  }
  indices = Const(Tensor::Of<int32_t>({1}));
  const Operation scattered = ResourceScatterAdd(
      graph.w.handle(), MarkGradient(indices, index_mark), MarkGradient(values, mark));
  const Fragments parts = Summed(graph.Cut({scattered}));
  ASSERT_EQ(parts.size(), 1u);
  const auto ops = OpsOf(*parts[0]);
  EXPECT_EQ(ops.count("ConcatV2"), 2u);
  EXPECT_EQ(ops.count("Mul"), 1u);
  EXPECT_EQ(ops.count("Placeholder"), 2u);
}

TEST(UpdateNodesTest, ValuesOfTheUpdateCannotBeRead) {
  SyncGraph graph;
  const Output mean = [&] {
    const DeviceScope on(CpuOf(kFirst));
    return MarkGradient(Placeholder(DType::kFloat, {2}, "more"), {.replicas_to_aggregate = 3});
  }();
  const Operation assigned = [&] {
    const DeviceScope on(CpuOf(kFirst));
    return AssignVariable(graph.w.handle(), mean);
  }();
  const Status status = StatusOf([&] { graph.Cut({assigned}, {Exp(mean)}); });
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_NE(status.message().find("Exp"), std::string::npos) << status.message();
}

TEST(UpdateNodesTest, StateOfTheWorkerCannotBeInTheMiddle) {
  SyncGraph graph;
  const Variable local = SyncGraph::MakeVariable(kWorker, "local");
  Output value;
  {
    const ControlDependencies after(graph.updates);
    const DeviceScope on(CpuOf(kWorker));
    value = ReadVariable(local.handle());
  }
  const DeviceScope on(CpuOf(kFirst));
  const Operation assigned = AssignVariable(graph.step.handle(), value);
  const Status status = StatusOf([&] { graph.Cut({assigned}); });
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_NE(status.message().find("ReadVariableOp"), std::string::npos) << status.message();
}

TEST(UpdateNodesTest, MarksOfVariablesHereMeanNothing) {
  Graph graph;
  const GraphScope use(graph);
  const Variable w("w", Tensor::Of<float>({1, 2}));
  const Output gradient = Placeholder(DType::kFloat, {2}, "gradient");
  const Operation update = ResourceApplyGradientDescent(
      w.handle(), Const(Tensor(1.0f)), MarkGradient(gradient, {.replicas_to_aggregate = 2}));
  Session session(graph);
  session.Run(w.initializer());
  session.Run({{gradient, Tensor::Of<float>({3, 4})}}, update);
  EXPECT_TRUE(session.Run(w.value()).Identical(Tensor::Of<float>({-2, -2})));
}

}  // namespace
}  // namespace sextant
