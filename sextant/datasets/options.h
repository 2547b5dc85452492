// What the commands `sextant data cifar10|mnist|census` have in common.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant::datasets {

struct SEXTANT_API DataOptions {
  std::string out;         // folder of the results; made when it is not there
  std::string from;        // an archive, or a folder of the authors' files; "": download
  std::string url;         // instead of the authors' pages: where their files are
  bool synthetic = false;  // make a set of the same form instead
  int64_t seed = 0;        // of the synthetic set
  // How many examples each file gets: the first n of a real set; -1 stands for all.
  int64_t train = -1;
  int64_t validation = -1;
  int64_t eval = -1;
  bool idx = false;  // MNIST: also as idx files
};

// `wanted`, or `usual` for -1: of synthetic sets.
inline int64_t CountOr(int64_t wanted, int64_t usual) { return wanted < 0 ? usual : wanted; }

}  // namespace sextant::datasets

#pragma GCC visibility pop
