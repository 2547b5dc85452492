// The page that draws a graph: one HTML file that needs nothing else.
#pragma once

#include <ostream>
#include <string>

#include "sextant/cli/inspect/path_kind.h"

namespace sextant::proto {
class GraphDef;
}

namespace sextant::cli {

// The page itself. Nodes carry name, op, inputs, device and their attributes as short text; values
// of constants beyond a few elements are left out. Function bodies are drawn as graphs of their
// own.
std::string GraphPage(const proto::GraphDef& graph, const std::string& title);

// Writes the page for the graph of a path and says so.
void WriteGraphPage(const KnownPath& path, const std::string& html, std::ostream& out);

}  // namespace sextant::cli
