#include "sextant/graph/passes/copy_subgraph.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/graph_def.h"

namespace sextant {
namespace {

std::string Neg(const std::string& name, const std::string& inputs) {
  return "node { name: '" + name + "' op: 'Neg' " + inputs +
         " attr { key: 'T' value { type: DT_FLOAT } } }\n";
}

const char* const kPlaceholder =
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
    "attr { key: 'shape' value { shape { dim { size: -1 } } } } }\n";

TEST(CopySubgraphTest, TakesWhatIsNeededAndCutsAtFeeds) {
  Graph graph;
  ImportGraphDefText(kPlaceholder + Neg("a", "input: 'x'") + Neg("b", "input: 'a' input: '^c'") +
                         Neg("c", "input: 'x'") + Neg("unused", "input: 'b'"),
                     graph);
  const Subgraph copy =
      CopySubgraph(graph, {{graph.FindOutput("a"), DType::kFloat, PartialShape({4})}},
                   {graph.FindOutput("b")}, {});
  EXPECT_EQ(copy.graph->FindNode("a"), nullptr);
  EXPECT_EQ(copy.graph->FindNode("unused"), nullptr);
  EXPECT_NE(copy.graph->FindNode("c"), nullptr);
  ASSERT_EQ(copy.fetches.size(), 1u);
  const Node* b = copy.fetches[0].node();
  EXPECT_EQ(b->name(), "b");
  EXPECT_EQ(b->input(0), copy.feeds[0]);
  EXPECT_EQ(b->input(0).node()->type(), "_Feed");
  EXPECT_EQ(b->input(0).shape(), PartialShape({4}));
  EXPECT_EQ(b->control_inputs()[0]->name(), "c");
}

TEST(CopySubgraphTest, WaitingForAFedNodeIsWaitingForTheFeed) {
  Graph graph;
  ImportGraphDefText(kPlaceholder + Neg("a", "input: 'x'") + Neg("b", "input: 'a' input: '^x'"),
                     graph);
  const Subgraph copy =
      CopySubgraph(graph, {{graph.FindOutput("x"), DType::kFloat, PartialShape({4})}},
                   {graph.FindOutput("b")}, {graph.FindOperation("x")});
  EXPECT_EQ(copy.graph->FindNode("x"), nullptr);
  EXPECT_EQ(copy.fetches[0].node()->control_inputs()[0], copy.feeds[0].node());
  EXPECT_EQ(copy.targets[0], copy.feeds[0].node());
}

TEST(CopySubgraphTest, ATensorIsFedOnce) {
  Graph graph;
  ImportGraphDefText(kPlaceholder, graph);
  const SubgraphFeed feed{graph.FindOutput("x"), DType::kFloat, PartialShape()};
  EXPECT_THROW(CopySubgraph(graph, {feed, feed}, {}, {}), Error);
}

TEST(TopologicalOrderTest, NamesANodeOfACycle) {
  Graph graph;
  ImportGraphDefText(kPlaceholder + Neg("a", "input: 'x'") + Neg("b", "input: 'a'"), graph);
  graph.SetInput(graph.FindNode("a"), 0, graph.FindOutput("b"));
  try {
    TopologicalOrder(graph);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "the graph has a cycle through [Neg a]");
  }
}

}  // namespace
}  // namespace sextant
