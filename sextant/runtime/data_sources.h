// The sources of a run: nodes that bring data in, IteratorGetNext above all, whose shapes are known
// only when they have run. A Session runs them first and makes the Plan of the rest for the shapes
// that came: so it is planned as if the data had been fed.
#pragma once

#include <span>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// Those that fetches and targets depend on, by id. A source reads a handle only, waits at most for
// other sources, as the batches of replicas do for each other, and has an output of unknown shape.
// None when one of them is fed, in part or as a whole, when an iterator is begun in the same run,
// or something is to run before input (checks_first.h). With "keep_data", as what they give may be
// needed again (RunOptions::sources), known shapes and what is to run before input do not matter.
std::vector<Node*> SourcesOf(const Graph& graph, std::span<const Output> feeds,
                             std::span<const Output> fetches, std::span<const Operation> targets,
                             bool keep_data = false);

}  // namespace sextant
