// Trainings recorded from TensorFlow: from its first checkpoint, on its batches, our own models and
// its own imported graph must take the same way.
#pragma once

#include <string>

#include "tests/conformance/recorded_case.h"

namespace sextant::conformance {

// A directory with trajectory.json, or a folder of such. Prints one line per failure.
Counts RunTrajectories(const std::string& path, const std::string& filter);

}  // namespace sextant::conformance
