// What an event file holds: summaries by tag, graphs, session logs, run metadata.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "sextant/cli/inspect/inspect_options.h"

namespace sextant::cli {

// False when the file is damaged: then what is before is shown, and what is wrong.
bool InspectEvents(const std::string& path, const InspectOptions& options, std::ostream& out);

}  // namespace sextant::cli
