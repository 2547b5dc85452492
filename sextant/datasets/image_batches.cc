#include "sextant/datasets/image_batches.h"

#include <algorithm>
#include <numeric>

#include "sextant/base/error.h"

namespace sextant::datasets {
namespace {

constexpr int64_t kClasses = 10;

std::vector<int64_t> InOrder(int64_t size) {
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

ImageBatches::ImageBatches(LabelledImages images, int64_t seed)
    : images_(std::move(images)),
      random_(static_cast<uint64_t>(seed)),
      order_(InOrder(images_.size())) {
  CheckLabels(images_, "the images");
}

ImageBatches::Batch ImageBatches::Rows(const std::vector<int64_t>& order, int64_t begin,
                                       int64_t end) const {
  const int64_t width = images_.image_bytes;
  Batch batch{Tensor(DType::kFloat, Shape{end - begin, width}),
              Tensor::Zeros(DType::kFloat, Shape{end - begin, kClasses})};
  for (int64_t i = begin; i < end; ++i) {
    const std::string_view pixels = images_.image(order[i]);
    std::transform(pixels.begin(), pixels.end(), batch.images.data<float>() + (i - begin) * width,
                   [](char pixel) {
                     return static_cast<float>(static_cast<unsigned char>(pixel)) * (1.0f / 255.0f);
                   });
    batch.labels.data<float>()[(i - begin) * kClasses + images_.label(order[i])] = 1;
  }
  return batch;
}

ImageBatches::Batch ImageBatches::Next(int64_t size) {
  if (size < 1 || size > images_.size()) {
    throw InvalidArgument("a batch of {} cannot be taken from {} images", size, images_.size());
  }
  if (next_ + size > images_.size()) {
    ++epochs_;
    next_ = 0;
    // Not std::shuffle, whose result is the library's own.
    for (int64_t i = images_.size() - 1; i > 0; --i) {
      std::swap(order_[i], order_[random_() % static_cast<uint64_t>(i + 1)]);
    }
  }
  next_ += size;
  return Rows(order_, next_ - size, next_);
}

ImageBatches::Batch ImageBatches::All() const {
  return Rows(InOrder(images_.size()), 0, images_.size());
}

}  // namespace sextant::datasets
