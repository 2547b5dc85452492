// Models for the tests of serving, small enough to be made by each of them.
#pragma once

#include <cstdint>
#include <string>

namespace sextant::serving {

// Exports x -> {"y": x * factor + 2} for float [rows] to BASE/VERSION, as a whole and at once.
std::string ExportSmallModel(const std::string& base, int64_t version, float factor = 0.5f);

// The directory's files seem to be an hour old, so that a server takes it at the first look.
void MakeOld(const std::string& directory);

}  // namespace sextant::serving
