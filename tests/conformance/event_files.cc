#include "tests/conformance/file_cases.h"

namespace sextant::conformance {
Counts RunEventFiles(const std::string&) { return {}; }
}  // namespace sextant::conformance
