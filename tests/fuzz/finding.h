// How a target ends when it found something.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace sextant::fuzz {

[[noreturn]] inline void Report(std::string_view what) {
  fmt::print(stderr, "finding: {}\n", what);
  std::abort();
}

}  // namespace sextant::fuzz
