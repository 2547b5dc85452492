// MNIST as `sextant data mnist` writes it.
#pragma once

#include <string>

#include "sextant/data/dataset.h"

#pragma GCC visibility push(default)

namespace sextant::data {

// Split "train", "validation" or "test". Elements: image float [28, 28, 1] in
// [0, 1], label int64. Folder "" stands for $SEXTANT_DATA/mnist, else data/mnist. NOT_FOUND names
// the command that makes the files.
Dataset Mnist(const std::string& split, const std::string& folder = "");

}  // namespace sextant::data

#pragma GCC visibility pop
