// The page of page/, put together by CMake and compiled into the library. The marks {{TITLE}}
// and {{DATA}} are to be replaced.
#pragma once

#include <string_view>

namespace sextant {

std::string_view GraphPageText();

}  // namespace sextant
