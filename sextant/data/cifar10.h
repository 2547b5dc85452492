// CIFAR-10 as `sextant data cifar10` writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sextant/base/export.h"
#include "sextant/data/dataset.h"

#pragma GCC visibility push(default)

namespace sextant::data {

// Split "train", "validation" or "eval". Elements: image float [32, 32, 3] in [0, 255], label
// int32. Folder "" stands for $SEXTANT_DATA/cifar10, else data/cifar10. NOT_FOUND names the command
// that makes the files.
Dataset Cifar10(const std::string& split, const std::string& folder = "");

// For training: images padded by 4, cropped at random and flipped with probability 1/2.
// Shuffled by record, so that the buffer is small and saved as offsets; then batches.
struct SEXTANT_API Cifar10TrainOptions {
  int64_t batch = 128;
  int64_t shuffle = 18000 + 3 * 128;
  std::optional<int64_t> seed;  // none: another order and other crops for every iterator
};
Dataset DistortedCifar10(const std::string& split, const std::string& folder,
                         const Cifar10TrainOptions& options = {});

}  // namespace sextant::data

#pragma GCC visibility pop
