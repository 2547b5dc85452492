#include "sextant/runtime/run_needs.h"

#include "sextant/base/error.h"
#include "sextant/base/export.h"
#include "sextant/graph/device_name.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/fragments.h"

namespace sextant {
namespace {

std::unique_ptr<Graph> NodesOf(const Graph& graph, const RunEnds& run) {
  std::vector<SubgraphFeed> feeds;
  for (const Output& feed : run.feeds) feeds.push_back({feed, feed.dtype(), feed.shape()});
  return CopySubgraph(graph, feeds, {run.fetches.begin(), run.fetches.end()},
                      {run.targets.begin(), run.targets.end()})
      .graph;
}

}  // namespace

SEXTANT_API bool HoldsData(const Graph& graph) {
  try {
    CheckTravels(graph);
    return false;
  } catch (const Error&) {
    return true;
  }
}

SEXTANT_API void CheckRunTravels(const Graph& graph, const RunEnds& run) {
  CheckTravels(*NodesOf(graph, run));
}

SEXTANT_API std::vector<std::string> VariablesOf(const Graph& graph, const RunEnds& run,
                                                 std::string_view task) {
  const std::unique_ptr<Graph> nodes = NodesOf(graph, run);
  const DeviceName own = DeviceName::Parse(task);
  std::vector<std::string> names;
  for (int id = 0; id < nodes->num_nodes(); ++id) {
    const Node& node = *nodes->node(id);
    if (node.type() != "VarHandleOp" && node.type() != "VariableV2") continue;
    DeviceName wanted = DeviceName::Parse(node.device());
    wanted.type.clear();
    wanted.index.reset();
    if (own.Matches(wanted)) names.push_back(node.name());
  }
  return names;
}

}  // namespace sextant
