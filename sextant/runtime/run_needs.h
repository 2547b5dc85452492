// What a run of a client's graph needs that is not its own to give: data of the client's process,
// which cannot travel, and variables of the server's task, which may be gone.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// The ends of a run.
struct RunEnds {
  std::span<const Output> feeds;
  std::span<const Output> fetches;
  std::span<const Operation> targets;
};

// Whether any node of the graph holds data of this process.
bool HoldsData(const Graph& graph);
// Throws as CheckTravels (fragments.h) when a node that the run needs does.
void CheckRunTravels(const Graph& graph, const RunEnds& run);

// Names of the variables that the run needs of the task; nodes without a task are its own.
std::vector<std::string> VariablesOf(const Graph& graph, const RunEnds& run, std::string_view task);

}  // namespace sextant
