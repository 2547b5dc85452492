// ImageBatches: labelled images in memory, batch by batch, in the order of the reader that came
// with TensorFlow's first tutorials: as they are in the first pass; then, whenever a batch would
// cross the end, the rest is left out and all are shuffled anew.
//
//   ImageBatches train(ReadMnist("MNIST_data", std::cout).train);
//   const auto [images, labels] = train.Next(50);
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/datasets/labelled_images.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant::datasets {

// Used by one thread at a time.
class SEXTANT_API ImageBatches {
 public:
  // What Next gives.
  struct Batch {
    Tensor images;  // float [size, bytes of an image]: pixels / 255
    Tensor labels;  // float [size, 10]: 1 at the class, else 0
  };

  // The seed is of the shuffling.
  explicit ImageBatches(LabelledImages images, int64_t seed = 0);

  int64_t size() const { return images_.size(); }
  int64_t epochs_completed() const { return epochs_; }
  // Throws INVALID_ARGUMENT unless 0 < size <= size().
  Batch Next(int64_t size);
  // All of them, in their own order.
  Batch All() const;

 private:
  Batch Rows(const std::vector<int64_t>& order, int64_t begin, int64_t end) const;

  const LabelledImages images_;
  std::mt19937_64 random_;
  std::vector<int64_t> order_;
  int64_t next_ = 0;
  int64_t epochs_ = 0;
};

}  // namespace sextant::datasets

#pragma GCC visibility pop
