// Graphs as GraphDef messages: import and export without loss.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/graph.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class GraphDef;
}

namespace sextant {

struct SEXTANT_API ImportOptions {
  std::string prefix;  // "a/b": names become "a/b/name"
};

// Adds the nodes and functions of "def" to "graph". Ops that nobody registered are kept: they can
// be fed and exported, running them is an error. Throws INVALID_ARGUMENT, naming the node, on a
// malformed graph: unknown input, wrong type, duplicate name, cycle outside a v1 loop; nothing is
// added then.
void ImportGraphDef(const proto::GraphDef& def, Graph& graph, const ImportOptions& options = {});
// From serialised bytes; DATA_LOSS when they are no GraphDef.
void ImportGraphDef(std::string_view bytes, Graph& graph, const ImportOptions& options = {});
void ImportGraphDefText(std::string_view text, Graph& graph, const ImportOptions& options = {});

struct SEXTANT_API ExportOptions {
  bool strip_default_attrs = false;
  bool output_shapes = false;  // add "_output_shapes", as the graph of an event file has
  // Constants of more bytes become "<stripped N bytes>" (see graph_def_edits.h); -1: none.
  int64_t max_constant_bytes = -1;
};
proto::GraphDef ExportGraphDef(const Graph& graph, const ExportOptions& options = {});
std::string ExportGraphDefText(const Graph& graph, const ExportOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
