// The main of the programs here.
#pragma once

#include <fmt/format.h>

#include "sextant/base/error.h"

namespace sextant::bench {

// An Error ends the program with one line and code 1.
inline int RunProgram(const char* name, int (*body)(int argc, char** argv), int argc, char** argv) {
  try {
    return body(argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "{}: {}\n", name, error.message());
    return 1;
  }
}

}  // namespace sextant::bench
