// TFRecord files and Examples written by TensorFlow, with what TensorFlow itself reads from them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sextant/base/file_system.h"
#include "sextant/formats/example.h"
#include "sextant/formats/tfrecord.h"

namespace sextant {
namespace {

using nlohmann::json;

const std::string kRecordFolder = SEXTANT_SOURCE_DIR "/../shared/golden/tfrecord/";

class GoldenTFRecordTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs_.Exists(kRecordFolder)) GTEST_SKIP() << "the golden files are not at " << kRecordFolder;
  }
  json Json(const std::string& name) { return json::parse(fs_.ReadFile(kRecordFolder + name)); }

  FileSystem& fs_ = FileSystem::ForPath(kRecordFolder);
};

// The same records in each compression, and the bytes that TensorFlow made of them.
TEST_F(GoldenTFRecordTest, ReadsAndWritesTheSameFilesAgain) {
  const json index = Json("index.json");
  for (const json& file : index["files"]) {
    const std::string name = file["file"];
    const Compression compression = ParseCompression(file["compression"].get<std::string>());
    const std::string path = "memory://golden_tfrecord_test";
    TFRecordReader reader(kRecordFolder + name, compression);
    TFRecordWriter writer(path, {.compression = compression});
    std::string record;
    size_t count = 0;
    for (; reader.Next(&record); ++count) writer.Write(record);
    writer.Close();
    EXPECT_EQ(count, file["num_records"].get<size_t>()) << name;
    EXPECT_FALSE(reader.ended_in_header() || reader.stream_cut_off());
    EXPECT_TRUE(FileSystem::ForPath(path).ReadFile(path) == fs_.ReadFile(kRecordFolder + name))
        << name;
  }
}

TEST_F(GoldenTFRecordTest, ReadsExamples) {
  TFRecordReader reader(kRecordFolder + "examples.tfrecord");
  std::string record;
  const json examples = Json("examples.json");
  for (const json& expected : examples) {
    ASSERT_TRUE(reader.Next(&record));
    const proto::Example example = ParseExample(record);
    EXPECT_EQ(static_cast<size_t>(example.features().feature().size()), expected.size());
    for (const auto& [key, feature] : expected.items()) {
      EXPECT_EQ(HasFeature(example, key), !feature.is_null()) << key;
      if (feature.is_null()) continue;
      if (feature.contains("int64_list")) {
        const auto values = GetInt64s(example, key);
        EXPECT_EQ(std::vector(values.begin(), values.end()),
                  feature["int64_list"].get<std::vector<int64_t>>());
      } else if (feature.contains("float_list")) {
        const auto values = GetFloats(example, key);
        EXPECT_EQ(std::vector(values.begin(), values.end()),
                  feature["float_list"].get<std::vector<float>>());
      } else {
        const auto values = GetBytes(example, key);
        const json& list = feature["bytes_list"];
        ASSERT_EQ(values.size(), list.size());
        for (size_t i = 0; i < values.size(); ++i) {
          if (list[i].contains("utf8")) {
            EXPECT_EQ(values[i], list[i]["utf8"].get<std::string>());
          }
        }
      }
    }
  }
  EXPECT_FALSE(reader.Next(&record));
}

}  // namespace
}  // namespace sextant
