// Pruning: copies the nodes that a run needs into a private graph, the first stage of a Plan.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

struct SubgraphFeed {
  Output tensor;
  DType dtype = DType::kInvalid;  // of the value fed
  PartialShape shape;
  bool whole_node =
      false;  // all outputs of its node are fed: it does not run, even if nodes wait for it
};

struct Subgraph {
  std::unique_ptr<Graph> graph;
  std::vector<Output> feeds;  // "_Feed" nodes, in the order given; empty where nobody reads it
  std::vector<Output> fetches;
  std::vector<Node*> targets;
};

// Everything that "fetches" and "targets" depend on, cut at "feeds", whose tensors become "_Feed"
// nodes. Nodes keep their names ("prefix" in front), their order and what was inferred of them. The
// library of the source is shared.
Subgraph CopySubgraph(const Graph& source, const std::vector<SubgraphFeed>& feeds,
                      const std::vector<Output>& fetches, const std::vector<Operation>& targets,
                      const std::string& prefix = "");

// Throws INVALID_ARGUMENT, naming the node, when it is one of another graph.
void CheckOwned(const Graph& source, const Node& node);

// The nodes in an order in which each comes after what it depends on, otherwise by id; the edge
// from NextIteration to Merge does not count. Throws INVALID_ARGUMENT, naming a node, on a cycle.
std::vector<Node*> TopologicalOrder(const Graph& graph);

// Renumbers the nodes. REQUIRES: "order" holds each node of the graph once.
void ReorderNodes(Graph& graph, const std::vector<Node*>& order);

// Removes all nodes that none of these depends on.
void RemoveUnneeded(Graph& graph, const std::vector<Node*>& needed);

}  // namespace sextant
