// The page of graph_page/, put together by CMake and compiled into the program. The marks {{TITLE}}
// and {{DATA}} are to be replaced.
#pragma once

#include <string_view>

namespace sextant::cli {

std::string_view GraphPageText();

}  // namespace sextant::cli
