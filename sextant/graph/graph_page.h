// The page that draws a graph: one HTML file that needs nothing else.
//
//   WriteGraphPage(RenameNodes(ExportGraphDef(graph), [](auto name) { … }), "graph.html");
#pragma once

#include <string>

#pragma GCC visibility push(default)

namespace sextant::proto {
class GraphDef;
}

namespace sextant {

// The page itself. Nodes carry name, op, inputs, device and their attributes as short text; values
// of constants beyond a few elements are left out. Function bodies are drawn as graphs of their
// own.
std::string GraphPage(const proto::GraphDef& graph, const std::string& title);

// Writes the page to a file, which is replaced when all is done. The title is its name by default.
void WriteGraphPage(const proto::GraphDef& graph, const std::string& path,
                    const std::string& title = "");

}  // namespace sextant

#pragma GCC visibility pop
