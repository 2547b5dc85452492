// Files that TensorFlow wrote, each compared with what TensorFlow itself reads from it: content,
// counts, and the error of each damaged file.
#pragma once

#include <string>

#include "tests/conformance/recorded_case.h"

namespace sextant::conformance {

// Compares all files of a directory with an index.json, whose content says of which kind they are,
// or of the directories directly below that have one. Prints one line per failure. Throws NOT_FOUND
// when there is no index.json.
Counts RunFileCases(const std::string& directory);

// The kinds. The directory has the index.json of that kind.
Counts RunTFRecordFiles(const std::string& directory);
Counts RunEventFiles(const std::string& directory);
Counts RunCheckpointFiles(const std::string& directory);

}  // namespace sextant::conformance
