// `sextant inspect`: says what a file or folder is and what it holds.
#pragma once

#include <ostream>

#include "sextant/cli/command.h"
#include "sextant/cli/inspect/inspect_options.h"

namespace sextant::cli {

// False when the file is damaged. docs/inspect_json.md describes the JSON.
bool Inspect(const InspectOptions& options, std::ostream& out);

void AddInspectCommand(Command& program);

}  // namespace sextant::cli
