// What a session of a graph runs once before its first step, whether variables are then initialised
// or restored.
#pragma once

#include "sextant/graph/output.h"

namespace sextant {

class Graph;

namespace train {

// A node of the graph that initialises local variables (counts of metrics, epochs) and tables.
Operation LocalInitializer(Graph& graph);

}  // namespace train
}  // namespace sextant
