// Random v1 conditionals with parts on several tasks, nested and one behind the other, give what
// they give in one process, bit for bit.
#include <gtest/gtest.h>

#include <random>

#include "sextant/sextant.h"
#include "sextant/testing/local_cluster_fixture.h"

namespace sextant {
namespace {

class RandomConditionalsTest : public LocalClusterFixture {};

// Conditionals that compute and read variables.
class RandomConditionals {
 public:
  explicit RandomConditionals(uint32_t seed, const std::vector<const char*>& tasks)
      : random_(seed), tasks_(tasks) {
    for (int i = 0; i < 3; ++i) {
      const DeviceScope on(AnyTask());
      variables.emplace_back("v" + std::to_string(i), Tensor(0.75f - 0.5f * static_cast<float>(i)));
    }
    tensors_ = {Const(Tensor(1.5f)), variables[0].value(), Tanh(variables[1].value())};
    const int count = 1 + Pick(4);
    for (int i = 0; i < count; ++i) {
      tensors_.push_back(Conditional(AnyTensor(), 0));
      const DeviceScope on(AnyTask());
      tensors_.push_back(Sigmoid(AnyTensor() * tensors_.back()));
    }
    fetches = {tensors_.back(), AnyTensor(), AnyTensor()};
  }

  const Output p = Placeholder(DType::kBool, {}, "p");
  std::vector<Variable> variables;
  std::vector<Output> fetches;

 private:
  int Pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  const char* AnyTask() { return tasks_[static_cast<size_t>(Pick(3))]; }
  Output AnyTensor() {
    return tensors_[static_cast<size_t>(Pick(static_cast<int>(tensors_.size())))];
  }
  Output AnyVariable() { return variables[static_cast<size_t>(Pick(3))].handle(); }

  Output Conditional(Output data, int depth) {
    const DeviceScope on(AnyTask());
    const Output pred = Pick(2) == 0 ? p : Greater(data, Const(Tensor(0.25f)));
    const SwitchOutputs sides = Switch(data, pred);
    const Output no = Branch(sides.output_false, pred, false, depth);
    const Output yes = Branch(sides.output_true, pred, true, depth);
    return Merge({no, yes}).output;
  }

  Output Branch(Output value, Output pred, bool side, int depth) {
    const int count = Pick(4);
    for (int i = 0; i < count; ++i) {
      const DeviceScope on(AnyTask());
      const auto switched = [&](Output outside) {
        const SwitchOutputs sides = Switch(outside, pred);
        return side ? sides.output_true : sides.output_false;
      };
      switch (Pick(depth < 2 ? 5 : 4)) {
        case 0:
          value = Tanh(value);
          break;
        case 1:
          value = value * switched(AnyTensor());
          break;
        case 2:
          value = value + ReadVariable(switched(AnyVariable()));
          break;
        case 3: {
          const ControlDependencies inside({Operation(Identity(value).node())});
          value = value - ReadVariable(AnyVariable()) * Const(Tensor(0.5f));
          break;
        }
        default:
          value = Conditional(value, depth + 1);
      }
    }
    return value;
  }

  std::mt19937 random_;
  const std::vector<const char*> tasks_;
  std::vector<Output> tensors_;
};

TEST_F(RandomConditionalsTest, GiveTheBitsOfOneProcess) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Graph graph;
    const GraphScope use(graph);
    const RandomConditionals random(seed, {kHere, kPs0, kPs1});
    LocalCluster cluster({kHere, kPs0, kPs1});
    Session alone(graph), clustered(graph, {}, cluster.environment(0));
    for (Session* session : {&alone, &clustered}) session->Run(GlobalVariablesInitializer());
    for (const bool taken : {false, true}) {
      const FeedMap feeds = {{random.p, Tensor(taken)}};
      const auto expected = alone.Run(feeds, random.fetches);
      const auto results = clustered.Run(feeds, random.fetches);
      for (size_t i = 0; i < results.size(); ++i)
        ASSERT_TRUE(results[i].Identical(expected[i]))
            << i << ": " << results[i].ToString() << " for " << expected[i].ToString();
    }
    ASSERT_EQ(cluster.running(), 0);
  }
}

}  // namespace
}  // namespace sextant
