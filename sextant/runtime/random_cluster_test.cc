// Random graphs on several tasks give what they give in one process, bit for bit, with as many
// calls as the rules of the cut say (calls_by_the_rule.h).
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "sextant/graph/update_mark.h"
#include "sextant/runtime/calls_by_the_rule.h"
#include "sextant/sextant.h"
#include "sextant/testing/local_task.h"

namespace sextant {
namespace {

constexpr char kTasks[3][40] = {"/job:worker/replica:0/task:0", "/job:ps/replica:0/task:0",
                                "/job:ps/replica:0/task:1"};

// Nodes of random tasks that read earlier tensors, variables that some of them change, loops with
// their gradients, and lists.
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
    {
      const DeviceScope on(kTasks[Pick(tasks_)]);
      counter_.emplace("counter", Tensor(int64_t{0}));
      initializers.push_back(counter_->initializer());
    }
    const int nodes = 4 + Pick(24);
    for (int i = 0; i < nodes; ++i) {
      const int first = graph.num_nodes();
      AddNode();
      if (Pick(4) == 0) continue;
      if (Pick(4) == 0) MarkCountsSince(first);
      MarkUpdatesSince(graph, first);
    }
    for (int i = 0; i < 4; ++i) fetches.push_back(Any());
    for (const Variable& variable : variables_) {
      ControlDependencies after(effects_);
      const DeviceScope on(kTasks[Pick(tasks_)]);
      fetches.push_back(Identity(variable.value()));
    }
    const ControlDependencies after(effects_);
    fetches.push_back(Identity(counter_->value()));
    targets = effects_;
  }

  // Fetches those of some tensors by x and the variables; gives how many there are.
  size_t AddGradients() {
    const GraphScope use(graph);
    std::vector<Output> by = {x};
    for (const Variable& variable : variables_) by.push_back(variable.handle());
    const size_t before = fetches.size();
    for (const Gradient& gradient : Gradients({Any(), Any(), tensors_.back()}, by)) {
      if (!gradient.none()) fetches.push_back(gradient.dense());
    }
    return fetches.size() - before;
  }

  Graph graph;
  Output x;
  std::vector<Output> fetches;
  std::vector<Operation> initializers, targets;

 private:
  int Pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  Output Any() { return tensors_[static_cast<size_t>(Pick(static_cast<int>(tensors_.size())))]; }

  Operation AnyEffect() {
    return effects_[static_cast<size_t>(Pick(static_cast<int>(effects_.size())))];
  }

  void MarkCountsSince(int first) {
    for (int id = first; id < graph.num_nodes(); ++id) {
      Node* node = graph.node(id);
      if (node->type().starts_with("Assign")) SetUpdateMark(graph, node, UpdateMark::kCount);
    }
  }

  void AddNode() {
    const DeviceScope on(kTasks[Pick(tasks_)]);
    std::vector<Operation> controls;
    if (!effects_.empty() && Pick(4) == 0) controls.push_back(AnyEffect());
    const ControlDependencies after(controls);
    const Variable& variable = variables_[static_cast<size_t>(Pick(3))];
    switch (Pick(13)) {
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
      case 6:
        effects_.push_back(counter_->AssignAdd(Const(Tensor(int64_t{1}))));
        break;
      case 7:
        if (!effects_.empty()) effects_.push_back(Group({AnyEffect(), AnyEffect()}));
        break;
      case 8:
        AddLoop(variable);
        break;
      case 9:
        PushOnList();
        break;
      case 10:
        if (!lists_.empty()) TakeFromList();
        break;
      default:
        tensors_.push_back(Maximum(Any(), Neg(Any())));
    }
  }

  void AddLoop(const Variable& variable) {
    const Output start = Any();
    tensors_.push_back(
        While([](const auto& v) { return Less(v[0], Const(Tensor(2))); },
              [&](const auto& v) {
                return std::vector<Output>{v[0] + Const(Tensor(1)), Tanh(v[1] * variable.value())};
              },
              {Const(Tensor(0)), start})[1]);
    if (Pick(2) == 0) return;
    const Output seed = Any();
    tensors_.push_back(Gradients({tensors_.back()}, {start}, {.grad_ys = {seed}})[0].dense());
  }

  // A list stays on its task.
  void PushOnList() {
    if (lists_.empty() || Pick(3) == 0)
      lists_.push_back(EmptyTensorList(Const(Tensor::Of<int32_t>({-1})), DType::kFloat));
    const Output list = AnyList();
    const DeviceScope on(list.node()->device());
    lists_.push_back(TensorListPushBack(list, Any()));
  }
  void TakeFromList() {
    const Output list = AnyList();
    const DeviceScope on(list.node()->device());
    tensors_.push_back(TensorListGetItem(TensorListPushBack(list, Any()), Const(Tensor(0)),
                                         Const(Tensor::Of<int32_t>({-1})), DType::kFloat));
  }
  Output AnyList() { return lists_[static_cast<size_t>(Pick(static_cast<int>(lists_.size())))]; }

  std::mt19937 random_;
  const int tasks_;
  std::vector<Output> tensors_, lists_;
  std::vector<Variable> variables_;
  std::optional<Variable> counter_;
  std::vector<Operation> effects_;
};

void ExpectTheBitsOfOneProcess(RandomGraph& random, LocalCluster& cluster,
                               std::optional<size_t> expected_calls = {}) {
  const FeedMap feeds = {{random.x, Tensor::Of<float>({0.75f, -0.5f, 0.0625f})}};
  Session alone(random.graph), clustered(random.graph, {}, cluster.environment(0));
  for (Session* session : {&alone, &clustered}) session->Run({}, {}, random.initializers);
  for (int run = 0; run < 2; ++run) {
    const auto before = static_cast<size_t>(cluster.calls());
    const auto expected = alone.Run(feeds, random.fetches, random.targets);
    const auto results = clustered.Run(feeds, random.fetches, random.targets);
    if (expected_calls) {
      ASSERT_EQ(static_cast<size_t>(cluster.calls()) - before, *expected_calls);
    }
    for (size_t i = 0; i < results.size(); ++i)
      ASSERT_TRUE(results[i].Identical(expected[i]))
          << i << ": " << results[i].ToString() << " for " << expected[i].ToString();
  }
  ASSERT_EQ(cluster.running(), 0);
  ASSERT_EQ(cluster.kept_runs(1) + cluster.kept_runs(2), 0u);
}

TEST(RandomClusterTest, ThreeTasksGiveTheBitsOfOneProcess) {
  size_t relaxed = 0;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed, 3);
    LocalCluster cluster({kTasks[0], kTasks[1], kTasks[2]});
    const CallsByTheRule rule(random.graph, random.fetches, random.targets, kTasks[0]);
    relaxed += rule.num_relaxed();
    ASSERT_GE(rule.Count(), rule.Entries(kTasks[1]) + rule.Entries(kTasks[2]));
    ASSERT_NO_FATAL_FAILURE(ExpectTheBitsOfOneProcess(random, cluster, rule.Count()));
  }
  EXPECT_GT(relaxed, 500u);  // else the graphs would not say much of the rule
}

// With one other task there are no more calls than there must be.
TEST(RandomClusterTest, OneOtherTaskIsCalledAsOftenAsAPathEntersIt) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed, 2);
    LocalCluster cluster({kTasks[0], kTasks[1], kTasks[2]});
    const CallsByTheRule rule(random.graph, random.fetches, random.targets, kTasks[0]);
    ASSERT_NO_FATAL_FAILURE(ExpectTheBitsOfOneProcess(random, cluster, rule.Entries(kTasks[1])));
  }
}

// Back through loops, branches and lists of all tasks.
TEST(RandomClusterTest, GradientsHaveTheBitsOfOneProcess) {
  size_t computed = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed, 3);
    computed += random.AddGradients();
    LocalCluster cluster({kTasks[0], kTasks[1], kTasks[2]});
    ASSERT_NO_FATAL_FAILURE(ExpectTheBitsOfOneProcess(random, cluster));
  }
  EXPECT_GT(computed, 400u);
}

}  // namespace
}  // namespace sextant
