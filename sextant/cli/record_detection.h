// Telling TFRecord files by their content.
#pragma once

#include <optional>
#include <string>

#include "sextant/formats/compression.h"

namespace sextant::cli {

// How the file is compressed if it begins with a record, or is empty; nothing when it does not:
// then it is something else, or damaged at its start.
std::optional<Compression> DetectTFRecord(const std::string& path);

}  // namespace sextant::cli
