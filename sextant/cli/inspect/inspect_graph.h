// What a GraphDef, a meta graph or a SavedModel holds.
#pragma once

#include <ostream>
#include <string>

#include "sextant/cli/inspect/inspect_options.h"
#include "sextant/cli/inspect/path_kind.h"

namespace sextant::cli {

// GraphDef and meta graph: counts by op, inputs, ends, functions, signatures; in JSON all nodes.
void InspectGraph(const KnownPath& path, const InspectOptions& options, std::ostream& out);

// Writes the page that draws the graph of a path and says so.
void DrawGraph(const KnownPath& path, const std::string& html, std::ostream& out);

// The text of `sextant saved-model show --all`; in JSON the same content and the variables.
void InspectSavedModel(const std::string& folder, const InspectOptions& options, std::ostream& out);

}  // namespace sextant::cli
