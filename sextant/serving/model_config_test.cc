#include "sextant/serving/model_config.h"

#include <gtest/gtest.h>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/testing/status_of.h"

namespace sextant::serving {
namespace {

class ModelConfigTest : public testing::Test {
 protected:
  std::string Write(const std::string& text) const {
    const std::string path = JoinPath(directory_.path(), "config");
    FileSystem::ForPath(path).WriteFileAtomically(path, text);
    return path;
  }
  const TemporaryDirectory directory_;
};

TEST_F(ModelConfigTest, ReadsTheFileOfTensorFlowServing) {
  const auto models =
      ReadModelConfigFile(Write("\xef\xbb\xbf"
                                R"(
    model_config_list {
      config { name: 'a' base_path: '/models/a' model_platform: 'tensorflow' }
      config {
        name: 'b' base_path: '/models/b'
        model_version_policy { specific { versions: 3 versions: 4 } }
        version_labels { key: 'stable' value: 3 }
        traffic { version: 3 weight: 9 } traffic { version: 4 weight: 1 }
      }
      config { name: 'c' base_path: '/c' model_version_policy { all {} } }
      config { name: 'd' base_path: '/d' model_version_policy { latest { num_versions: 2 } } }
    })"));
  ASSERT_EQ(models.size(), 4u);
  EXPECT_EQ(models[0], (ModelConfig{.name = "a", .base_path = "/models/a"}));
  EXPECT_EQ(models[1].policy.versions, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(models[1].labels.at("stable"), 3);
  EXPECT_EQ(models[1].traffic[0].weight, 9u);
  EXPECT_EQ(models[2].policy.kind, VersionPolicy::Kind::kAll);
  EXPECT_EQ(models[3].policy.latest, 2);
}

TEST_F(ModelConfigTest, SaysWhatIsWrong) {
  const auto error = [&](const std::string& text) {
    return StatusOf([&] { ReadModelConfigFile(Write(text)); }).message();
  };
  const auto has = [&](const std::string& text, const std::string& part) {
    EXPECT_NE(error(text).find(part), std::string::npos) << error(text);
  };
  has("model_config_list { config { nme: 'a' } }", "line 1, column");
  has("model_config_list { config { base_path: '/a' } }", "no name");
  has("model_config_list { config { name: 'a' } }", "no base_path");
  has("model_config_list { config { name: 'a/b' base_path: '/a' } }", "'/' or ':'");
  has("model_config_list { config { name: 'a' base_path: '/a' model_platform: 'torch' } }",
      "model_platform");
  has("model_config_list { config { name: 'a' base_path: '/a' } config { name: 'a' base_path: '/b' "
      "} }",
      "twice");
  has("model_config_list { config { name: 'a' base_path: '/a' model_version_policy { specific { } "
      "} "
      "} }",
      "names no versions");
}

TEST_F(ModelConfigTest, ReadsBatchingParameters) {
  const BatchingConfig config = ReadBatchingFile(Write(
      "max_batch_size { value: 128 } batch_timeout_micros { value: 500 } num_batch_threads { "
      "value: "
      "3 } max_enqueued_batches { value: 7 } allowed_batch_sizes: 8 allowed_batch_sizes: 128"));
  EXPECT_TRUE(config.enabled);
  EXPECT_EQ(config.max_batch_size, 128);
  EXPECT_EQ(config.timeout_micros, 500);
  EXPECT_EQ(config.threads, 3);
  EXPECT_EQ(config.max_enqueued_batches, 7);
  EXPECT_EQ(config.allowed_sizes, (std::vector<int64_t>{8, 128}));
  EXPECT_EQ(StatusOf([&] { ReadBatchingFile(Write("max_batch_size { value: 0 }")); }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { ReadBatchingFile(Write("allowed_batch_sizes: 3")); }).code(),
            Code::kInvalidArgument);
}

TEST_F(ModelConfigTest, ReadsTheSizeOfRunsApartFromThatOfRequests) {
  const BatchingConfig config = ReadBatchingFile(
      Write("max_batch_size { value: 100 } enable_large_batch_splitting { value: true } "
            "max_execution_batch_size { value: 8 } allowed_batch_sizes: 2 allowed_batch_sizes: 8"));
  EXPECT_EQ(config.max_batch_size, 8);
  EXPECT_EQ(config.max_request_rows, 100);
  const auto message = [&](const std::string& text) {
    return StatusOf([&] { ReadBatchingFile(Write(text)); }).message();
  };
  EXPECT_NE(message("max_batch_size { value: 4 } max_execution_batch_size { value: 8 }")
                .find("max_batch_size is 4, but must be at least 8"),
            std::string::npos);
  EXPECT_NE(message("enable_large_batch_splitting { value: false } "
                    "max_execution_batch_size { value: 8 }")
                .find("needs enable_large_batch_splitting"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant::serving
