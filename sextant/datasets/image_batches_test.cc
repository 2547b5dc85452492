#include "sextant/datasets/image_batches.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant::datasets {
namespace {

// Images of one pixel, which is their number; labels are its last digit.
LabelledImages NumberedImages(int count) {
  LabelledImages images{.image_bytes = 1};
  for (int i = 0; i < count; ++i) {
    images.pixels.push_back(static_cast<char>(i));
    images.labels.push_back(static_cast<char>(i % 10));
  }
  return images;
}

std::vector<int> Numbers(const ImageBatches::Batch& batch) {
  std::vector<int> numbers;
  for (int64_t i = 0; i < batch.images.dim(0); ++i) {
    numbers.push_back(static_cast<int>(std::lround(batch.images.data<float>()[i] * 255)));
    for (int c = 0; c < 10; ++c) {
      EXPECT_EQ(batch.labels.data<float>()[i * 10 + c], c == numbers.back() % 10 ? 1 : 0);
    }
  }
  return numbers;
}

TEST(ImageBatchesTest, FirstPassIsInOrderThenShuffledAndTheRestIsLeftOut) {
  ImageBatches batches(NumberedImages(200), 7);
  for (int i = 0; i < 3; ++i) {
    const std::vector<int> numbers = Numbers(batches.Next(60));
    for (int k = 0; k < 60; ++k) ASSERT_EQ(numbers[k], 60 * i + k);
  }
  EXPECT_EQ(batches.epochs_completed(), 0);
  std::vector<int> second;
  for (int i = 0; i < 3; ++i) {
    const std::vector<int> numbers = Numbers(batches.Next(60));  // 180 to 199 are left out
    second.insert(second.end(), numbers.begin(), numbers.end());
  }
  EXPECT_EQ(batches.epochs_completed(), 1);
  EXPECT_FALSE(std::is_sorted(second.begin(), second.end()));
  std::sort(second.begin(), second.end());
  EXPECT_EQ(std::adjacent_find(second.begin(), second.end()), second.end());  // none twice
  EXPECT_GT(second.back(), 179);
  EXPECT_EQ(Numbers(batches.All())[199], 199);
}

TEST(ImageBatchesTest, SeedsDecideAndSizesAreChecked) {
  ImageBatches a(NumberedImages(100), 1), b(NumberedImages(100), 1), c(NumberedImages(100), 2);
  for (ImageBatches* batches : {&a, &b, &c}) batches->Next(100);
  const std::vector<int> second = Numbers(a.Next(100));
  EXPECT_EQ(Numbers(b.Next(100)), second);
  EXPECT_NE(Numbers(c.Next(100)), second);
  EXPECT_THROW(a.Next(101), Error);
  EXPECT_THROW(a.Next(0), Error);
}

}  // namespace
}  // namespace sextant::datasets
