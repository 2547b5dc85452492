// Names that become one part of a path.
#pragma once

#include <string_view>

namespace sextant {

// Throws INVALID_ARGUMENT, "WHAT must be a name for a directory, …", for a text with slashes or
// control characters, "." and "..", and what is too long. "" is no name, and is not refused.
void CheckDirectoryName(std::string_view what, std::string_view text);

}  // namespace sextant
