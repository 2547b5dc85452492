#include "tests/conformance/file_cases.h"

namespace sextant::conformance {
Counts RunTFRecordFiles(const std::string&) { return {}; }
}  // namespace sextant::conformance
