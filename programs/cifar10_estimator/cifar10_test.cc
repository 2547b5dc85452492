#include "cifar10_estimator/cifar10.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sx = sextant;

namespace cifar10 {
namespace {

// Images and labels of the first two batches.
std::string FirstBatches(const DataSet& data) {
  const auto iterator = data.MakeBatch(8).dataset().MakeIterator();
  std::string bytes;
  for (int i = 0; i < 2; ++i) {
    sx::data::Element batch;
    EXPECT_TRUE(iterator->Next(&batch));
    const sx::Tensor& images = batch["image"];
    bytes.append(reinterpret_cast<const char*>(images.data<float>()),
                 static_cast<size_t>(images.num_elements()) * sizeof(float));
    for (const int32_t label : batch["label"].flat<int32_t>()) bytes += fmt::format("{} ", label);
  }
  return bytes;
}

// A folder of 64 images.
std::string MakeImages() {
  const std::string folder = "memory://data_set_test";
  sx::FileSystem::ForPath(folder).CreateDirectories(folder);
  sx::TFRecordWriter writer(folder + "/train.tfrecords");
  for (size_t i = 0; i < 64; ++i) {
    std::string pixels(3072, '\0');
    for (size_t p = 0; p < pixels.size(); ++p) pixels[p] = static_cast<char>(i * 5 + p * p % 11);
    const auto label = static_cast<int64_t>(i % 10);
    writer.Write(sx::ExampleBuilder().Bytes("image", pixels).Int64("label", label).Serialize());
  }
  return folder;
}

TEST(DataSetTest, BatchesDifferFromRunToRunWithoutASeed) {
  const std::string folder = MakeImages();
  for (const bool distort : {true, false}) {
    for (const bool crop_24 : {false, true}) {
      DataSet data{folder, "train", distort, crop_24};
      const std::string one = FirstBatches(data);
      EXPECT_NE(one, FirstBatches(data)) << distort << crop_24;
      data.seed = 3;
      const std::string seeded = FirstBatches(data);
      EXPECT_EQ(seeded, FirstBatches(data)) << distort << crop_24;
      data.seed = 4;
      EXPECT_NE(seeded, FirstBatches(data)) << distort << crop_24;
    }
  }
}

// A training that is resumed goes on with the same images, distorted as they would have been.
TEST(DataSetTest, UnseededBatchesAreResumed) {
  const std::string folder = MakeImages();
  const sx::data::Dataset batches =
      sx::data::DistortedCifar10("train", folder, {.batch = 4, .shuffle = 32});
  const auto first = batches.MakeIterator();
  sx::data::Element batch;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(first->Next(&batch));
  const std::string state = first->SaveState();
  const auto second =
      sx::data::DistortedCifar10("train", folder, {.batch = 4, .shuffle = 32}).MakeIterator();
  second->RestoreState(state);
  for (int i = 0; i < 3; ++i) {
    sx::data::Element other;
    EXPECT_TRUE(first->Next(&batch));
    EXPECT_TRUE(second->Next(&other));
    EXPECT_TRUE(std::ranges::equal(batch["image"].flat<float>(), other["image"].flat<float>()));
    EXPECT_TRUE(std::ranges::equal(batch["label"].flat<int32_t>(), other["label"].flat<int32_t>()));
  }
}

}  // namespace
}  // namespace cifar10
