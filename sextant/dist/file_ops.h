// Which graphs of other processes may run here: those whose ops open no files.
#pragma once

#include <string>

namespace sextant::dist {

// Throws PERMISSION_DENIED, naming the node, when an op of the graph or of its functions can open a
// file, and DATA_LOSS when the bytes are no GraphDef.
void CheckOpensNoFiles(const std::string& graph_def, const std::string& task);

}  // namespace sextant::dist
