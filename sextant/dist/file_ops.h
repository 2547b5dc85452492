// Which graphs of other processes may run here: those whose ops open no files.
#pragma once

#include <string>

namespace sextant {
class Graph;
}

namespace sextant::dist {

// Throws PERMISSION_DENIED, naming the node, when an op of the graph, or of a function that it can
// reach, can open a file. Functions that nothing calls do not matter.
void CheckOpensNoFiles(const Graph& graph, const std::string& task);

}  // namespace sextant::dist
