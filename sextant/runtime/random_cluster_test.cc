// Random graphs on several tasks give what they give in one process, bit for bit, with as many
// calls as the rule of the cut (fragment_groups.cc) says.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
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
  RandomGraph(uint32_t seed, int tasks) : random_(seed), tasks_(tasks) {
    const GraphScope use(graph);
    x = Placeholder(DType::kFloat, {-1}, "x");
    tensors_.push_back(x);
    for (int i = 0; i < 3; ++i) {
      const DeviceScope on(kTasks[Pick(tasks_)]);
      variables_.emplace_back("v" + std::to_string(i), Tensor::Of<float>({0.5f, 0.25f, -0.125f}));
      initializers.push_back(variables_.back().initializer());
    }
    const int nodes = 4 + Pick(24);
    for (int i = 0; i < nodes; ++i) AddNode();
    for (int i = 0; i < 4; ++i) fetches.push_back(Any());
    for (const Variable& variable : variables_) {
      ControlDependencies after(effects_);
      const DeviceScope on(kTasks[Pick(tasks_)]);
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
    const DeviceScope on(kTasks[Pick(tasks_)]);
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
  const int tasks_;
  std::vector<Output> tensors_;
  std::vector<Variable> variables_;
  std::vector<Operation> effects_;
};

// The placed graph of a run, cut anew, with its dependencies seen node by node.
struct CutGraph {
  CutGraph(const RandomGraph& random, const SessionEnvironment& environment)
      : subgraph(CopySubgraph(random.graph, {{random.x, DType::kFloat, {3}}}, random.fetches,
                              random.targets)) {
    Graph& graph = *subgraph.graph;
    graph.AddNode({.name = "sink",
                   .op = graph.FindOp("IdentityN"),
                   .inputs = subgraph.fetches,
                   .control_inputs = subgraph.targets,
                   .attrs = {{"T", std::vector<DType>(subgraph.fetches.size(), DType::kFloat)}}});
    const PlanEnvironment plan{.devices = environment.devices,
                               .remote_devices = environment.remote_devices,
                               .tasks = environment.tasks};
    PlaceNodes(graph, plan, false);
    ReadCapturedVariables(graph, plan);
    order = TopologicalOrder(graph);
    groups = GroupByTask(order, kTasks[0]);
    task.resize(order.size());
    before.resize(order.size());
    for (const Node* node : order) {
      const size_t id = Id(node);
      task[id] = node->device().empty() ? std::string(kTasks[0]) : TaskOfDevice(node->device());
      const auto depend = [&](const Node* on) {
        if (groups.group[Id(on)] != FragmentGroups::kCopied) before[id].push_back(Id(on));
      };
      for (const Output& input : node->inputs()) depend(input.node());
      for (const Node* control : node->control_inputs()) {
        if (!groups.IgnoresControl(control, node)) depend(control);
      }
      for (const Node* earlier : groups.effects[id]) depend(earlier);
      if (groups.group[id] != FragmentGroups::kCopied) ids.push_back(id);
    }
  }

  static size_t Id(const Node* node) { return static_cast<size_t>(node->id()); }

  // How often the path that enters the task most often does so: fewer calls cannot be.
  size_t Entries(const std::string& of) const {
    std::vector<size_t> entries(order.size());
    size_t most = 0;
    for (const size_t id : ids) {
      const bool inside = task[id] == of;
      entries[id] = inside ? 1 : 0;
      for (const size_t from : before[id])
        entries[id] = std::max(entries[id], entries[from] + (inside && task[from] != of ? 1 : 0));
      if (inside) most = std::max(most, entries[id]);
    }
    return most;
  }

  // A change is not made earlier than those that control edges put before it.
  int FirstLevel(size_t id, const std::vector<int>& level) const {
    int first = 0;
    if (!groups.relaxed.any) return first;
    for (const Node* earlier : groups.relaxed.not_before[id])
      first = std::max(first, level[Id(earlier)]);
    return first;
  }

  // By the rule, before fragments are merged: the level grows where an edge enters another task. A
  // value of a variable that was sent to a branch is made where the branch is.
  std::vector<int> Levels() const {
    std::vector<int> level(order.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (const size_t id : ids) {
        for (const size_t from : before[id])
          level[id] = std::max(level[id], level[from] + (task[from] != task[id] ? 1 : 0));
        level[id] = std::max(level[id], FirstLevel(id, level));
      }
      for (const Node* node : order) {
        for (const Output& input : node->inputs()) {
          const size_t maker = Id(input.node());
          if (input.node()->type() != "_VariableOfValue" || task[maker] == kTasks[0]) continue;
          moved = moved || level[maker] < level[Id(node)];
          level[maker] = level[Id(node)];  // its only reader
        }
      }
    }
    return level;
  }

  Subgraph subgraph;
  std::vector<Node*> order;
  FragmentGroups groups;
  std::vector<std::string> task;            // by id
  std::vector<std::vector<size_t>> before;  // by id: what a node depends on
  std::vector<size_t> ids;                  // in order, without what is copied
};

// A fragment before merging.
struct LevelOfTask {
  int level;
  size_t appears;  // where the first node of the task is in the graph
  std::string task;
  friend auto operator<=>(const LevelOfTask&, const LevelOfTask&) = default;
};

// Merges by the words of the rule, in the plainest way: from the lowest level up, each fragment
// joins the first of its task where the graph of what is merged so far keeps no cycle and the
// earlier one waits for no fragment of a third task because of it.
size_t CallsByTheRule(const CutGraph& cut) {
  constexpr size_t kMostVertices = 512;
  const std::vector<int> level = cut.Levels();
  const auto fragment_of = [&](size_t id) -> LevelOfTask {
    const auto first = std::ranges::find(
        cut.order, cut.task[id], [&](const Node* node) { return cut.task[CutGraph::Id(node)]; });
    return {level[id], static_cast<size_t>(first - cut.order.begin()), cut.task[id]};
  };
  std::set<LevelOfTask> sorted;
  for (const size_t id : cut.ids) {
    if (cut.task[id] != kTasks[0]) sorted.insert(fragment_of(id));
  }
  const std::vector<LevelOfTask> fragments(sorted.begin(), sorted.end());
  // Vertices: the fragments, then each node of this task.
  std::vector<size_t> vertices(cut.order.size());
  for (const size_t id : cut.ids) {
    vertices[id] = cut.task[id] == kTasks[0]
                       ? fragments.size() + id
                       : static_cast<size_t>(std::ranges::find(fragments, fragment_of(id)) -
                                             fragments.begin());
  }
  const size_t count = fragments.size() + cut.order.size();
  EXPECT_LE(count, kMostVertices);
  const auto closure = [&](const std::vector<size_t>& joined) {
    std::vector<std::bitset<kMostVertices>> reach(count);
    for (const size_t id : cut.ids) {
      for (const size_t from : cut.before[id]) {
        const size_t a = joined[vertices[from]], b = joined[vertices[id]];
        if (a != b) reach[a].set(b);
      }
    }
    for (size_t k = 0; k < count; ++k) {
      for (size_t i = 0; i < count; ++i) {
        if (reach[i][k]) reach[i] |= reach[k];
      }
    }
    return reach;
  };
  std::vector<size_t> joined(count);
  for (size_t i = 0; i < count; ++i) joined[i] = i;
  const auto unmerged = closure(joined);
  // Whether a change would come before one that it is told to follow.
  const auto comes_before = [&](size_t earlier, size_t later) {
    for (const size_t id : cut.ids) {
      if (vertices[id] != later || !cut.groups.relaxed.any) continue;
      for (const Node* other : cut.groups.relaxed.not_before[id]) {
        const size_t vertex = vertices[CutGraph::Id(other)];
        if (vertex != later && fragments[joined[vertex]].level > fragments[earlier].level)
          return true;
      }
    }
    return false;
  };
  size_t calls = fragments.size();
  for (size_t later = 0; later < fragments.size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) {
      if (fragments[earlier].task != fragments[later].task || joined[earlier] != earlier) continue;
      bool waits = comes_before(earlier, later);
      for (size_t third = 0; third < fragments.size(); ++third) {
        waits = waits || (fragments[third].task != fragments[later].task &&
                          unmerged[third][later] && !unmerged[third][earlier]);
      }
      if (waits) continue;
      std::vector<size_t> trial = joined;
      trial[later] = earlier;
      const auto reach = closure(trial);
      bool cycle = false;
      for (size_t i = 0; i < count; ++i) cycle = cycle || reach[i][i];
      if (cycle) continue;
      joined = trial;
      --calls;
      break;
    }
  }
  return calls;
}

void ExpectTheBitsOfOneProcess(RandomGraph& random, LocalCluster& cluster, size_t expected_calls) {
  const FeedMap feeds = {{random.x, Tensor::Of<float>({0.75f, -0.5f, 0.0625f})}};
  Session alone(random.graph), clustered(random.graph, {}, cluster.environment(0));
  for (Session* session : {&alone, &clustered}) session->Run({}, {}, random.initializers);
  for (int run = 0; run < 2; ++run) {
    const auto before = static_cast<size_t>(cluster.calls());
    const auto expected = alone.Run(feeds, random.fetches, random.targets);
    const auto results = clustered.Run(feeds, random.fetches, random.targets);
    ASSERT_EQ(static_cast<size_t>(cluster.calls()) - before, expected_calls);
    for (size_t i = 0; i < results.size(); ++i)
      ASSERT_TRUE(results[i].Identical(expected[i]))
          << i << ": " << results[i].ToString() << " for " << expected[i].ToString();
  }
  ASSERT_EQ(cluster.running(), 0);
  ASSERT_EQ(cluster.kept_runs(1) + cluster.kept_runs(2), 0u);
}

TEST(RandomClusterTest, ThreeTasksGiveTheBitsOfOneProcess) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed, 3);
    LocalCluster cluster({kTasks[0], kTasks[1], kTasks[2]});
    const CutGraph cut(random, cluster.environment(0));
    const size_t calls = CallsByTheRule(cut);
    ASSERT_GE(calls, cut.Entries(kTasks[1]) + cut.Entries(kTasks[2]));
    ASSERT_NO_FATAL_FAILURE(ExpectTheBitsOfOneProcess(random, cluster, calls));
  }
}

// With one other task there are no more calls than there must be.
TEST(RandomClusterTest, OneOtherTaskIsCalledAsOftenAsAPathEntersIt) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed, 2);
    LocalCluster cluster({kTasks[0], kTasks[1], kTasks[2]});
    const size_t calls = CutGraph(random, cluster.environment(0)).Entries(kTasks[1]);
    ASSERT_NO_FATAL_FAILURE(ExpectTheBitsOfOneProcess(random, cluster, calls));
  }
}

}  // namespace
}  // namespace sextant
