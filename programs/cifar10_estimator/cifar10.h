// CIFAR-10 as generate_cifar10_tfrecords writes it: the input function.
#pragma once

#include <optional>
#include <string>

#include "sextant/sextant.h"

namespace cifar10 {

// What the schedule and the shuffle buffer count with; the files hold 40,000, 10,000 and 10,000.
constexpr int64_t kTrainImages = 45000;
constexpr int64_t kEvalImages = 10000;

extern const std::vector<std::string> kClassNames;  // of the labels 0 … 9

struct DataSet {
  std::string data_dir;  // of train.tfrecords, validation.tfrecords and eval.tfrecords
  std::string subset = "train";
  bool use_distortion = true;  // of images for training
  // Images as they are, padded, cropped and flipped for training; or crops of 24x24 pixels, for
  // training also flipped and of other brightness and contrast, standardised.
  bool crop_24 = false;
  std::optional<int64_t> seed;  // none: another order and distortion each time

  // Throws for a file that is missing or empty.
  void Check() const;
  // Batches for ever: image float [batch, 32, 32, 3] (or 24, 24), label int32 [batch].
  sextant::Input MakeBatch(int64_t batch_size) const;
};

}  // namespace cifar10
