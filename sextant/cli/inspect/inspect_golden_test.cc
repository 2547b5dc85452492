// `sextant inspect --json` shows what the index.json files beside TensorFlow's own files say. Needs
// the recorded files in ../shared/golden; skipped where they are absent.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sextant/base/file_system.h"
#include "sextant/cli/inspect/inspect.h"

namespace sextant::cli {
namespace {

using nlohmann::json;

std::string Golden(const std::string& name) {
  return std::string(SEXTANT_SOURCE_DIR) + "/../shared/golden/" + name;
}

bool Absent() { return !FileSystem::ForPath("/").Exists(Golden("tfrecord/index.json")); }

json ReadJson(const std::string& name) {
  return json::parse(FileSystem::ForPath("/").ReadFile(Golden(name)));
}

json InspectJson(const std::string& name, bool whole = true) {
  std::ostringstream out;
  EXPECT_EQ(Inspect({.path = Golden(name), .json = true}, out), whole) << name;
  return json::parse(out.str());
}

// Every member of `expected` is in `actual` and equal; null means that it may be absent.
void ExpectContains(const json& actual, const json& expected, const std::string& where) {
  if (expected.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      if (value.is_null()) continue;
      ASSERT_TRUE(actual.is_object() && actual.contains(key)) << where << "/" << key;
      ExpectContains(actual[key], value, where + "/" + key);
    }
  } else if (expected.is_array()) {
    ASSERT_TRUE(actual.is_array()) << where;
    ASSERT_EQ(actual.size(), expected.size()) << where;
    for (size_t i = 0; i < expected.size(); ++i) {
      ExpectContains(actual[i], expected[i], where + "/" + std::to_string(i));
    }
  } else if (expected.is_number_float() && actual.is_number()) {
    EXPECT_EQ(actual.get<double>(), expected.get<double>()) << where;
  } else {
    EXPECT_EQ(actual, expected) << where;
  }
}

TEST(InspectGolden, Records) {
  if (Absent()) GTEST_SKIP() << "no recorded files";
  const json index = ReadJson("tfrecord/index.json");
  for (const json& file : index["files"]) {
    const std::string name = file["file"];
    const json actual = InspectJson("tfrecord/" + name);
    EXPECT_EQ(actual["kind"], "tfrecord");
    EXPECT_EQ(actual["num_records"], file["num_records"]) << name;
    if (file["num_records"] > 0) {
      EXPECT_EQ(actual["compression"], file["compression"]) << name;
    }
  }
  for (const char* name : {"plain.tfrecord", "gzip.tfrecord.gz", "zlib.tfrecord.zlib"}) {
    ExpectContains(InspectJson(std::string("tfrecord/") + name)["records"], index["records"], name);
  }
  for (const json& file : index["corrupted"]) {
    if (file.contains("read_as")) continue;  // compression is known by content here
    const std::string name = file["file"];
    const bool clean = file["iterator_error"].is_null();
    const json actual = InspectJson("tfrecord/" + name, clean);
    EXPECT_EQ(actual["num_records"], file["records_before_error"]) << name;
    if (!clean) {
      EXPECT_EQ(actual["error"]["code"], file["iterator_error"]["code"]) << name;
    }
  }
}

TEST(InspectGolden, Examples) {
  if (Absent()) GTEST_SKIP() << "no recorded files";
  const auto contents = [](const json& records, const char* key) {
    json all = json::array();
    for (const json& record : records) all.push_back(record[key]);
    return all;
  };
  ExpectContains(contents(InspectJson("tfrecord/examples.tfrecord")["records"], "example"),
                 ReadJson("tfrecord/examples.json"), "examples");
  ExpectContains(
      contents(InspectJson("tfrecord/sequence_examples.tfrecord")["records"], "sequence_example"),
      ReadJson("tfrecord/sequence_examples.json"), "sequence_examples");
}

TEST(InspectGolden, Events) {
  if (Absent()) GTEST_SKIP() << "no recorded files";
  const json index = ReadJson("events/index.json");
  for (const auto& [name, events] : index.items()) {
    const json actual = InspectJson("events/" + name);
    EXPECT_EQ(actual["kind"], "events");
    ExpectContains(actual["events"], events, name);
  }
}

TEST(InspectGolden, Checkpoints) {
  if (Absent()) GTEST_SKIP() << "no recorded files";
  const json index = ReadJson("checkpoint/index.json");
  for (const auto& [prefix, checkpoint] : index.items()) {
    const json actual = InspectJson("checkpoint/" + prefix);
    EXPECT_EQ(actual["kind"], "checkpoint");
    EXPECT_EQ(actual["files"], checkpoint["files"]) << prefix;
    EXPECT_EQ(actual["tensors"].size(), checkpoint["tensors"].size()) << prefix;
    ExpectContains(actual["tensors"], checkpoint["tensors"], prefix);
  }
}

TEST(InspectGolden, ModelDir) {
  if (Absent()) GTEST_SKIP() << "no recorded files";
  const json actual = InspectJson("checkpoint/training_run");
  EXPECT_EQ(actual["kind"], "model_dir");
  EXPECT_EQ(actual["global_step"], 60);
  EXPECT_EQ(actual["checkpoints"].size(), 3u);
  EXPECT_EQ(actual["checkpoints"][2]["latest"], true);
}

TEST(InspectGolden, SavedModels) {
  if (Absent()) GTEST_SKIP() << "no recorded files";
  const json answers = ReadJson("saved_model/mnist_convnet.answers.json");
  const json actual = InspectJson("saved_model/mnist_convnet");
  EXPECT_EQ(actual["kind"], "saved_model");
  for (const auto& [name, signature] : answers["signatures"].items()) {
    EXPECT_EQ(actual["meta_graphs"][0]["signatures"][name]["method_name"],
              signature["method_name"]);
  }
}

}  // namespace
}  // namespace sextant::cli
