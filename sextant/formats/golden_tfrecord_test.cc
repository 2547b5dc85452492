// TFRecord files and Examples written by TensorFlow, with what TensorFlow itself reads from them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sextant/base/file_system.h"
#include "sextant/formats/example.h"
#include "sextant/formats/tfrecord.h"

namespace sextant {
namespace {

using nlohmann::json;

const std::string kFolder = SEXTANT_SOURCE_DIR "/../shared/golden/tfrecord/";

class GoldenTFRecordTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs_.Exists(kFolder)) GTEST_SKIP() << "the golden files are not at " << kFolder;
  }
  json Json(const std::string& name) { return json::parse(fs_.ReadFile(kFolder + name)); }

  FileSystem& fs_ = FileSystem::ForPath(kFolder);
};

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const unsigned char byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

TEST_F(GoldenTFRecordTest, ReadsPlainFiles) {
  const json index = Json("index.json");
  TFRecordReader reader(kFolder + "plain.tfrecord");
  std::string record;
  for (const json& expected : index["records"]) {
    ASSERT_TRUE(reader.Next(&record));
    EXPECT_EQ(record.size(), expected["length"].get<size_t>());
    if (expected["hex"].is_string()) {
      EXPECT_EQ(Hex(record), expected["hex"].get<std::string>());
    }
  }
  EXPECT_FALSE(reader.Next(&record));
  EXPECT_FALSE(reader.ended_in_header());
}

TEST_F(GoldenTFRecordTest, WritesTheSameFileAgain) {
  const std::string path = "memory://golden_tfrecord_test";
  TFRecordReader reader(kFolder + "plain.tfrecord");
  TFRecordWriter writer(path);
  std::string record;
  while (reader.Next(&record)) writer.Write(record);
  writer.Close();
  EXPECT_TRUE(FileSystem::ForPath(path).ReadFile(path) == fs_.ReadFile(kFolder + "plain.tfrecord"));
}

TEST_F(GoldenTFRecordTest, DamagedFilesFailWhereTensorFlowFails) {
  int checked = 0;
  const json index = Json("index.json");
  for (const json& damaged : index["corrupted"]) {
    const std::string file = damaged["file"];
    if (damaged.value("read_as", "NONE") != "NONE") continue;  // read through a decompressor
    ++checked;
    TFRecordReader reader(kFolder + file);
    std::string record;
    int count = 0;
    Status status;
    try {
      while (reader.Next(&record)) ++count;
    } catch (const Error& e) {
      status = e.status();
    }
    EXPECT_EQ(count, damaged["records_before_error"]) << file;
    const json& error = damaged["iterator_error"];
    EXPECT_EQ(static_cast<int>(status.code()), error.is_null() ? 0 : error["code"].get<int>());
    if (error.is_null()) {
      EXPECT_TRUE(reader.ended_in_header()) << file;
    } else {  // "corrupted record at 370", "truncated record at 358' failed with ..."
      const std::string message = error["message"];
      const std::string where = message.substr(0, message.find_first_not_of("0123456789", 20));
      EXPECT_NE(status.message().find(where + ":"), std::string::npos) << status.message();
    }
  }
  EXPECT_EQ(checked, 9);
}

TEST_F(GoldenTFRecordTest, ReadsExamples) {
  TFRecordReader reader(kFolder + "examples.tfrecord");
  std::string record;
  const json examples = Json("examples.json");
  for (const json& expected : examples) {
    ASSERT_TRUE(reader.Next(&record));
    const tensorflow::Example example = ParseExample(record);
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
