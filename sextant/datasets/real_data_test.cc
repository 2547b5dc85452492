// The real sets. The census data is in ../shared/data/census; CIFAR-10 and MNIST are looked for in
// the folder SEXTANT_REAL_DATA, as cifar-10-batches-bin and the four idx files. Skipped where
// absent.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "sextant/base/file_system.h"
#include "sextant/datasets/census.h"
#include "sextant/datasets/cifar10.h"
#include "sextant/datasets/mnist.h"
#include "sextant/datasets/test_archive.h"
#include "sextant/formats/example.h"
#include "sextant/formats/tfrecord.h"

namespace sextant::datasets {
namespace {

struct Found {
  int64_t records = 0;
  std::array<int64_t, 10> labels = {};
  std::string first;
};

Found CountRecords(const std::string& path) {
  Found found;
  TFRecordReader reader(path);
  for (std::string record; reader.Next(&record); ++found.records) {
    const proto::Example example = ParseExample(record);
    ++found.labels[GetOneInt64(example, "label")];
    if (found.records == 0) found.first = GetOneBytes(example, "image");
  }
  return found;
}

TEST(RealData, Census) {
  const std::string from = std::string(SEXTANT_SOURCE_DIR) + "/../shared/data/census";
  if (!FileSystem::ForPath("/").Exists(from + "/adult.data")) GTEST_SKIP() << "no census data";
  const std::string out = NewFolder();
  std::ostringstream text;
  MakeCensus({.out = out, .from = from}, text);
  const auto count = [&](const std::string& name, const std::string& end) {
    const std::string rows = FileSystem::ForPath("/").ReadFile(JoinPath(out, name));
    int64_t found = 0;
    for (size_t at = rows.find(end); at != std::string::npos; at = rows.find(end, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("adult.data.csv", "\n"), 32561);
  EXPECT_EQ(count("adult.data.csv", ", >50K\n"), 7841);
  EXPECT_EQ(count("adult.test.csv", "\n"), 16281);
  EXPECT_EQ(count("adult.test.csv", ", >50K\n"), 3846);
}

std::string RealFolder() {
  const char* folder = std::getenv("SEXTANT_REAL_DATA");
  return folder == nullptr ? "" : folder;
}

TEST(RealData, Cifar10) {
  const std::string from = RealFolder();
  if (from.empty() || !FileSystem::ForPath("/").Exists(from + "/cifar-10-batches-bin"))
    GTEST_SKIP() << "no CIFAR-10";
  const std::string out = NewFolder();
  std::ostringstream text;
  MakeCifar10({.out = out, .from = from}, text);
  const Found train = CountRecords(out + "/train.tfrecords");
  const Found validation = CountRecords(out + "/validation.tfrecords");
  const Found eval = CountRecords(out + "/eval.tfrecords");
  EXPECT_EQ(train.records, 40000);
  EXPECT_EQ(validation.records, 10000);
  EXPECT_EQ(eval.records, 10000);
  for (int label = 0; label < 10; ++label) {  // 5,000 of each class to train with, 1,000 to test
    EXPECT_EQ(train.labels[label] + validation.labels[label], 5000);
    EXPECT_EQ(eval.labels[label], 1000);
  }
  const std::string batch =
      FileSystem::ForPath("/").ReadFile(from + "/cifar-10-batches-bin/data_batch_1.bin");
  EXPECT_EQ(train.first, batch.substr(1, 3072));
}

TEST(RealData, Mnist) {
  const std::string from = RealFolder();
  if (from.empty() || !FileSystem::ForPath("/").Exists(from + "/t10k-labels-idx1-ubyte"))
    GTEST_SKIP() << "no MNIST";
  const std::string out = NewFolder();
  std::ostringstream text;
  MakeMnist({.out = out, .from = from}, text);
  EXPECT_EQ(CountRecords(out + "/train.tfrecords").records, 55000);
  EXPECT_EQ(CountRecords(out + "/validation.tfrecords").records, 5000);
  const Found test = CountRecords(out + "/test.tfrecords");
  EXPECT_EQ(test.records, 10000);
  // As published with the set.
  EXPECT_EQ(test.labels,
            (std::array<int64_t, 10>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}));
  const std::string images = FileSystem::ForPath("/").ReadFile(from + "/t10k-images-idx3-ubyte");
  EXPECT_EQ(test.first, images.substr(16, 784));
}

}  // namespace
}  // namespace sextant::datasets
