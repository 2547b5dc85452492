// What a checkpoint holds: its variables with dtype, shape, slices, statistics.
#pragma once

#include <ostream>
#include <string>

#include "sextant/cli/inspect/inspect_options.h"

namespace sextant {
class JsonWriter;
}

namespace sextant::cli {

// With options.tensor, that tensor alone, all of it.
void InspectCheckpoint(const std::string& prefix, const InspectOptions& options, std::ostream& out);
void InspectNpy(const std::string& path, const InspectOptions& options, std::ostream& out);

// The field "tensors" of a checkpoint's JSON.
void WriteCheckpointTensors(const std::string& prefix, JsonWriter& json);

}  // namespace sextant::cli
