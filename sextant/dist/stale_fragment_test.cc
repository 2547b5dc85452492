#include "sextant/dist/stale_fragment.h"

#include <gtest/gtest.h>

#include <map>

#include "sextant/graph/graph_def.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/sextant.h"

namespace sextant::dist {
namespace {

// w = {1, 2}, step = 0; the gradient g is fed. The update counts the step.
class StaleFragmentTest : public testing::Test {
 protected:
  StaleFragmentTest() {
    const GraphScope use(graph_);
    const Variable w("w", Tensor::FromVector(std::vector<float>{1, 2}));
    const Variable step("step", Tensor(int64_t{0}), {.trainable = false});
    const Output g = Placeholder(DType::kFloat, {2}, "g");
    const train::Optimizer momentum = train::Momentum({.learning_rate = 0.5f, .momentum = 0.5f});
    const Operation update = momentum.ApplyGradients({{g, w}}, step);
    init_ = GlobalVariablesInitializer().node()->name();
    fragment_.feeds = {"g:0"};
    fragment_.targets = {update.node()->name()};
    fragment_.fetches = {w.value().name(), step.value().name()};
    fragment_.fingerprint = 7;
    const proto::GraphDef def = ExportGraphDef(graph_, {});
    for (const proto::NodeDef& node : def.node()) {
      if (node.op() == "AssignVariableOp") initialisers_[node.name()] = node;
    }
    fragment_.graph_def = def.SerializeAsString();
  }

  // Runs the update twice; then w and the step.
  std::pair<std::vector<float>, int64_t> RunTwice(const Fragment& fragment,
                                                  std::optional<float> scale = {}) {
    proto::GraphDef def;
    EXPECT_TRUE(def.ParseFromString(fragment.graph_def));
    // The initialisers, which a fragment of an update does not have, stay.
    for (proto::NodeDef& node : *def.mutable_node()) {
      if (initialisers_.contains(node.name())) node = initialisers_.at(node.name());
    }
    Graph graph;
    ImportGraphDef(def.SerializeAsString(), graph);
    Session session(graph);
    session.Run(graph.FindOperation(init_));
    FeedMap feeds = {
        {graph.FindOutput(fragment.feeds[0]), Tensor::FromVector(std::vector<float>{2, 4})}};
    if (scale) feeds.emplace_back(graph.FindOutput(fragment.feeds.at(1)), Tensor(*scale));
    for (int i = 0; i < 2; ++i) session.Run(feeds, {}, {graph.FindOperation(fragment.targets[0])});
    const Tensor w = session.Run(graph.FindOutput(fragment.fetches[0]));
    const auto values = w.flat<float>();
    return {{values.begin(), values.end()},
            session.Run(graph.FindOutput(fragment.fetches[1])).AsInt64()};
  }

  Graph graph_;
  std::string init_;
  std::map<std::string, proto::NodeDef> initialisers_;
  Fragment fragment_;
};

// The accumulator is g, then 1.5 g: w falls by 0.5 * 2.5 g.
TEST_F(StaleFragmentTest, AsItIs) {
  EXPECT_EQ(RunTwice(fragment_), (std::pair(std::vector<float>{-1.5, -3}, int64_t{2})));
}

TEST_F(StaleFragmentTest, WithoutUpdatesOnlyTheStepIsCounted) {
  const auto variant = WithoutUpdates(fragment_);
  EXPECT_NE(variant->fingerprint, fragment_.fingerprint);
  EXPECT_EQ(RunTwice(*variant), (std::pair(std::vector<float>{1, 2}, int64_t{2})));
}

// A quarter of the gradient {2, 4}: w falls by 0.5 * 2.5 * {0.5, 1}.
TEST_F(StaleFragmentTest, ScaledGradientsCountLess) {
  const auto variant = WithScaledGradients(fragment_);
  ASSERT_EQ(variant->feeds.size(), 2u);
  EXPECT_EQ(RunTwice(*variant, 0.25f), (std::pair(std::vector<float>{0.375, 0.75}, int64_t{2})));
  EXPECT_EQ(RunTwice(*variant, 1.0f), RunTwice(fragment_));
}

TEST_F(StaleFragmentTest, KnowsWhatChangesVariables) {
  EXPECT_TRUE(ChangesVariables(fragment_));
  Graph reads;
  {
    const GraphScope use(reads);
    Exp(Placeholder(DType::kFloat, {2}, "g"));
  }
  fragment_.graph_def = ExportGraphDef(reads, {}).SerializeAsString();
  EXPECT_FALSE(ChangesVariables(fragment_));
}

TEST_F(StaleFragmentTest, FragmentsThatOthersFetchFromStayAsTheyAre) {
  fragment_.kept = {"w/Read:0"};
  EXPECT_EQ(WithoutUpdates(fragment_), nullptr);
  EXPECT_EQ(WithScaledGradients(fragment_), nullptr);
}

}  // namespace
}  // namespace sextant::dist
