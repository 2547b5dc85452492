#include <gtest/gtest.h>

#include "sextant/data/census.h"
#include "sextant/data/cifar10.h"
#include "sextant/data/mnist.h"
#include "sextant/data/source_test_helpers.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/example.pb.h"

namespace sextant::data {
namespace {

void WriteImages(const std::string& folder, const std::string& split, int count, size_t bytes) {
  FileSystem::ForPath(folder).CreateDirectories(folder);
  TFRecordWriter writer(folder + "/" + split + ".tfrecords");
  for (int i = 0; i < count; ++i) {
    proto::Example example;
    auto& features = *example.mutable_features()->mutable_feature();
    std::string pixels(bytes, '\0');
    for (size_t p = 0; p < bytes; ++p)
      pixels[p] = static_cast<char>(p * 7 + static_cast<size_t>(i));
    features["image"].mutable_bytes_list()->add_value(pixels);
    features["label"].mutable_int64_list()->add_value(i % 10);
    writer.Write(example.SerializeAsString());
  }
  writer.Close();
}

TEST(NamedDataTest, NamesTheCommandThatMakesTheFiles) {
  EXPECT_EQ(
      ErrorOf([] { Mnist("train", "memory://no_mnist"); }),
      "NOT_FOUND: memory://no_mnist/train.tfrecords: no such file; make it with `sextant data "
      "mnist --out memory://no_mnist`");
  setenv("SEXTANT_DATA", "memory://all_data", 1);
  EXPECT_EQ(ErrorOf([] { Cifar10("eval"); }),
            "NOT_FOUND: memory://all_data/cifar10/eval.tfrecords: no such file; make it with "
            "`sextant data cifar10 --out memory://all_data/cifar10`");
  unsetenv("SEXTANT_DATA");
  EXPECT_NE(ErrorOf([] { Census("train"); }).find("sextant data census --out data/census"),
            std::string::npos);
  EXPECT_EQ(ErrorOf([] { Census("eval"); }).substr(0, 16), "INVALID_ARGUMENT");
}

TEST(NamedDataTest, RefusesAFolderInPlaceOfAFile) {
  FileSystem::ForPath("memory://").CreateDirectories("memory://folder/train.tfrecords");
  EXPECT_EQ(ErrorOf([] { Cifar10("train", "memory://folder"); }),
            "FAILED_PRECONDITION: memory://folder/train.tfrecords is a folder, not a file; move it "
            "away and make it with `sextant data cifar10 --out memory://folder`");
}

TEST(NamedDataTest, AnEmptyFileGivesNoBatch) {
  WriteImages("memory://empty", "train", 0, 3072);
  EXPECT_TRUE(AllOf(Mnist("train", "memory://empty")).empty());
  EXPECT_TRUE(AllOf(Cifar10("train", "memory://empty")).empty());
  EXPECT_TRUE(AllOf(DistortedCifar10("train", "memory://empty", {.batch = 2})).empty());
}

TEST(NamedDataTest, MnistIsScaled) {
  WriteImages("memory://mnist", "test", 3, 784);
  const std::vector<Element> elements = AllOf(Mnist("test", "memory://mnist"));
  ASSERT_EQ(elements.size(), 3u);
  EXPECT_EQ(elements[2].Describe(), "image: float[28,28,1], label: int64[]");
  EXPECT_EQ(elements[2]["image"].data<float>()[1], 9 * (1.0f / 255.0f));
  EXPECT_EQ(elements[2]["label"].scalar<int64_t>(), 2);
  ExpectResumes(Mnist("test", "memory://mnist").Shuffle(2, {.seed = 1}).Repeat(2).Batch(2));
}

TEST(NamedDataTest, Cifar10IsChannelsLast) {
  WriteImages("memory://cifar", "eval", 5, 3072);
  const std::vector<Element> elements = AllOf(Cifar10("eval", "memory://cifar"));
  ASSERT_EQ(elements.size(), 5u);
  EXPECT_EQ(elements[1].Describe(), "image: float[32,32,3], label: int32[]");
  const float* const pixels = elements[1]["image"].data<float>();
  EXPECT_EQ(pixels[0], 1.0f);                                    // red of (0, 0)
  EXPECT_EQ(pixels[1], static_cast<float>(1 + 7 * 1024 % 256));  // green
  EXPECT_EQ(pixels[3], 8.0f);                                    // red of (0, 1)
}

TEST(NamedDataTest, DistortedCifar10Resumes) {
  WriteImages("memory://cifar", "train", 20, 3072);
  const Dataset batches =
      DistortedCifar10("train", "memory://cifar", {.batch = 4, .shuffle = 8, .seed = 3}).Take(9);
  EXPECT_EQ(AllOf(batches)[0].Describe(), "image: float[4,32,32,3], label: int32[4]");
  EXPECT_EQ(batches.Spec()[0].shape, PartialShape({-1, 32, 32, 3}));
  ExpectResumes(batches);
}

TEST(NamedDataTest, CensusHasFifteenColumns) {
  FileSystem::ForPath("memory://census").CreateDirectories("memory://census");
  WriteMemoryFile("census/adult.test.csv",
                  "25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, "
                  "Black, Male, 0, 0, 40, United-States, <=50K\n");
  const std::vector<Element> rows = AllOf(Census("test", "memory://census"));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].size(), 15);
  EXPECT_EQ(rows[0]["age"].scalar<int32_t>(), 25);
  EXPECT_EQ(rows[0]["fnlwgt"].scalar<int32_t>(), 226802);
  EXPECT_EQ(rows[0]["workclass"].scalar<std::string>(), " Private");
  EXPECT_EQ(rows[0]["income_bracket"].scalar<std::string>(), " <=50K");
}

// Sums of columns, made from the file by Python's split.
TEST(NamedDataTest, ReadsTheRealCensusFile) {
  const std::string path = SEXTANT_SOURCE_DIR "/../shared/data/census/adult.data";
  if (!FileSystem::ForPath(path).Exists(path)) GTEST_SKIP() << path << " is not there";
  for (const int64_t batch : {1000, 128}) {
    int64_t rows = 0, age = 0, weight = 0, gain = 0, hours = 0, rich = 0, country = 0;
    const auto iterator = Csv({path}, {.columns = CensusColumns()}).Batch(batch).MakeIterator();
    for (Element element; iterator->Next(&element);) {
      rows += element["age"].dim(0);
      for (const int32_t value : element["age"].flat<int32_t>()) age += value;
      for (const int32_t value : element["fnlwgt"].flat<int32_t>()) weight += value;
      for (const int32_t value : element["capital_gain"].flat<int32_t>()) gain += value;
      for (const int32_t value : element["hours_per_week"].flat<int32_t>()) hours += value;
      for (const auto& text : element["income_bracket"].flat<std::string>())
        rich += text == " >50K";
      for (const auto& text : element["native_country"].flat<std::string>()) {
        country += static_cast<int64_t>(text.size());
      }
    }
    EXPECT_EQ(rows, 32561);
    EXPECT_EQ(age, 1256257);
    EXPECT_EQ(weight, 6179373392);
    EXPECT_EQ(gain, 35089324);
    EXPECT_EQ(hours, 1316684);
    EXPECT_EQ(rich, 7841);
    EXPECT_EQ(country, 432861);
  }
}

}  // namespace
}  // namespace sextant::data
