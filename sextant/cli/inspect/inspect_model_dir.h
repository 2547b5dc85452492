// What a folder of a training run holds: checkpoints, the global step, event files, exports.
#pragma once

#include <ostream>
#include <string>

#include "sextant/cli/inspect/inspect_options.h"

namespace sextant::cli {

void InspectModelDir(const std::string& folder, const InspectOptions& options, std::ostream& out);

}  // namespace sextant::cli
