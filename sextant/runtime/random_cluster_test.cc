// Random graphs on three tasks give what they give in one process, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/captured_variables.h"
#include "sextant/runtime/fragment_groups.h"
#include "sextant/runtime/placer.h"
#include "sextant/sextant.h"
#include "sextant/testing/local_task.h"

namespace sextant {
namespace {

constexpr char kTasks[3][40] = {"/job:worker/replica:0/task:0", "/job:ps/replica:0/task:0",
                                "/job:ps/replica:0/task:1"};

// Nodes of random tasks that read earlier tensors, and variables that some of them change.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {
    const GraphScope use(graph);
    x = Placeholder(DType::kFloat, {-1}, "x");
    tensors_.push_back(x);
    for (int i = 0; i < 3; ++i) {
      const DeviceScope on(kTasks[Pick(3)]);
      variables_.emplace_back("v" + std::to_string(i), Tensor::Of<float>({0.5f, 0.25f, -0.125f}));
      initializers.push_back(variables_.back().initializer());
    }
    const int nodes = 4 + Pick(24);
    for (int i = 0; i < nodes; ++i) AddNode();
    for (int i = 0; i < 4; ++i) fetches.push_back(Any());
    for (const Variable& variable : variables_) {
      ControlDependencies after(effects_);
      const DeviceScope on(kTasks[Pick(3)]);
      fetches.push_back(Identity(variable.value()));
    }
    targets = effects_;
  }

  Graph graph;
  Output x;
  std::vector<Output> fetches;
  std::vector<Operation> initializers, targets;

 private:
  int Pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  Output Any() { return tensors_[static_cast<size_t>(Pick(static_cast<int>(tensors_.size())))]; }

  void AddNode() {
    const DeviceScope on(kTasks[Pick(3)]);
    std::vector<Operation> controls;
    if (!effects_.empty() && Pick(4) == 0)
      controls.push_back(effects_[static_cast<size_t>(Pick(static_cast<int>(effects_.size())))]);
    const ControlDependencies after(controls);
    const Variable& variable = variables_[static_cast<size_t>(Pick(3))];
    switch (Pick(8)) {
      case 0:
        tensors_.push_back(ReadVariable(variable.handle()));
        break;
      case 1:
        effects_.push_back(AssignVariable(variable.handle(), Tanh(Any())));
        break;
      case 2:
        effects_.push_back(variable.AssignAdd(Tanh(Any())));
        break;
      case 3:
        tensors_.push_back(Tanh(Any()) - Const(Tensor(0.5f)));
        break;
      case 4:
        tensors_.push_back(Sigmoid(Any() * Any()));
        break;
      case 5:
        tensors_.push_back(Cond(
            Greater(Sum(Any(), {0}), Const(Tensor(0.0f))),
            [&] { return std::vector<Output>{Neg(x)}; },
            [&] { return std::vector<Output>{Abs(variable.value())}; })[0]);
        break;
      default:
        tensors_.push_back(Maximum(Any(), Neg(Any())));
    }
  }

  std::mt19937 random_;
  std::vector<Output> tensors_;
  std::vector<Variable> variables_;
  std::vector<Operation> effects_;
};

// What the calls of one run must be at least and at most, of both other tasks: at least as often as
// a path enters the task, at most once for every level of it.
struct CallBounds {
  size_t least = 0, most = 0;
};

CallBounds BoundsOf(const RandomGraph& random, const SessionEnvironment& environment) {
  Subgraph subgraph =
      CopySubgraph(random.graph, {{random.x, DType::kFloat, {3}}}, random.fetches, random.targets);
  Graph& graph = *subgraph.graph;
  const PlanEnvironment plan{.devices = environment.devices,
                             .remote_devices = environment.remote_devices,
                             .tasks = environment.tasks};
  PlaceNodes(graph, plan, false);
  ReadCapturedVariables(graph, plan);
  const std::vector<Node*> order = TopologicalOrder(graph);
  const FragmentGroups groups = GroupByTask(order, kTasks[0]);
  const auto task_of = [](const Node* node) {
    return node->device().empty() ? std::string(kTasks[0]) : TaskOfDevice(node->device());
  };
  std::vector<int> level(order.size());
  std::set<std::pair<std::string, int>> levels;
  CallBounds bounds;
  for (const std::string task : {kTasks[1], kTasks[2]}) {
    std::vector<size_t> entries(order.size());
    size_t most_entries = 0;
    for (const Node* node : order) {
      const auto id = static_cast<size_t>(node->id());
      if (groups.group[id] == FragmentGroups::kCopied) continue;
      const bool inside = task_of(node) == task;
      entries[id] = inside ? 1 : 0;
      const auto depend = [&](const Node* on) {
        const auto from = static_cast<size_t>(on->id());
        if (groups.group[from] == FragmentGroups::kCopied) return;
        const bool enters = inside && task_of(on) != task;
        entries[id] = std::max(entries[id], entries[from] + (enters ? 1 : 0));
        level[id] = std::max(level[id], level[from] + (task_of(on) != task_of(node) ? 1 : 0));
      };
      for (const Output& input : node->inputs()) depend(input.node());
      for (const Node* control : node->control_inputs()) depend(control);
      for (const Node* earlier : groups.effects[id]) depend(earlier);
      if (!inside) continue;
      most_entries = std::max(most_entries, entries[id]);
      levels.insert({task, level[id]});
    }
    bounds.least += most_entries;
  }
  bounds.most = levels.size();
  return bounds;
}

TEST(RandomClusterTest, ThreeTasksGiveTheBitsOfOneProcess) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed);
    const FeedMap feeds = {{random.x, Tensor::Of<float>({0.75f, -0.5f, 0.0625f})}};
    LocalCluster cluster({kTasks[0], kTasks[1], kTasks[2]});
    Session alone(random.graph), clustered(random.graph, {}, cluster.environment(0));
    for (Session* session : {&alone, &clustered}) session->Run({}, {}, random.initializers);
    const CallBounds bounds = BoundsOf(random, cluster.environment(0));
    for (int run = 0; run < 2; ++run) {
      const auto before = static_cast<size_t>(cluster.calls());
      const auto expected = alone.Run(feeds, random.fetches, random.targets);
      const auto results = clustered.Run(feeds, random.fetches, random.targets);
      const size_t calls = static_cast<size_t>(cluster.calls()) - before;
      ASSERT_GE(calls, bounds.least);
      ASSERT_LE(calls, bounds.most);
      for (size_t i = 0; i < results.size(); ++i)
        ASSERT_TRUE(results[i].Identical(expected[i]))
            << i << ": " << results[i].ToString() << " for " << expected[i].ToString();
    }
    ASSERT_EQ(cluster.running(), 0);
    ASSERT_EQ(cluster.kept_runs(1) + cluster.kept_runs(2), 0u);
  }
}

}  // namespace
}  // namespace sextant
