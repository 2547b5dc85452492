// What a TFRecord file holds: Examples and SequenceExamples by feature, other records as bytes.
#pragma once

#include <ostream>
#include <string>

#include "sextant/cli/inspect/inspect_options.h"

namespace sextant::cli {

// False when the file is damaged: then what is before is shown, and what is wrong.
bool InspectRecords(const std::string& path, const InspectOptions& options, std::ostream& out);

}  // namespace sextant::cli
