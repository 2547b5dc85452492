// Reference variables whose shape the graph itself changes.
#pragma once

#include <string>

#include "sextant/graph/graph.h"

namespace sextant {

// In place, before ResolveReferences. "graph" holds nodes of "source" under their names with
// "prefix" in front. Its Variable and VariableV2 nodes lose their shape where an Assign of "source"
// without validate_shape may give them a value of another one: what reads them must be planned for
// any shape, also in runs without that Assign.
void ForgetVaryingShapes(Graph& graph, const Graph& source, const std::string& prefix);

}  // namespace sextant
