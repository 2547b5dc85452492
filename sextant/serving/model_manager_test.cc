#include "sextant/serving/model_manager.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/serving/small_model_test_helpers.h"
#include "sextant/testing/status_of.h"

namespace sextant::serving {
namespace {

namespace fs = std::filesystem;

class ModelManagerTest : public testing::Test {
 protected:
  ModelManagerOptions Options() const {
    return {.poll = std::chrono::milliseconds(-1), .max_load_retries = 0};
  }
  ModelConfig Config() const { return {.name = "m", .base_path = Path("m")}; }
  std::string Path(const std::string& name) const { return JoinPath(directory_.path(), name); }
  static int64_t Newest(const ModelManager& manager) { return manager.Find("m", {})->version(); }
  static VersionStatus StatusOfVersion(const ModelManager& manager, int64_t version) {
    return manager.StatusOf("m", {.version = version})[0];
  }

  const TemporaryDirectory directory_;
};

TEST_F(ModelManagerTest, LoadsAndReplacesVersions) {
  ExportSmallModel(Path("m"), 1);
  ModelManager manager(Options());
  manager.SetModels({Config()});
  manager.PollNow();
  EXPECT_EQ(manager.NotReady(), "");
  EXPECT_EQ(Newest(manager), 1);
  auto held = manager.Find("m", {});
  ExportSmallModel(Path("m"), 2);
  manager.PollNow();
  EXPECT_EQ(Newest(manager), 2);
  EXPECT_EQ(StatusOfVersion(manager, 1).state, VersionState::kUnloading);  // as "held" holds it
  EXPECT_EQ(held->signatures().size(), 1u);
  held.reset();
  while (StatusOfVersion(manager, 1).state != VersionState::kEnd) std::this_thread::yield();
  EXPECT_EQ(StatusOf([&] { manager.Find("m", {.version = 1}); }).code(), Code::kNotFound);
  EXPECT_EQ(manager.counts().loads, 2);
  EXPECT_EQ(manager.counts().unloads, 1);
}

TEST_F(ModelManagerTest, ABrokenVersionDoesNotDisplaceAGoodOne) {
  for (const int retries : {0, 5}) {
    fs::remove_all(Path("m"));
    ExportSmallModel(Path("m"), 1);
    ModelManagerOptions options = Options();
    options.max_load_retries = retries;
    ModelManager manager(options);
    manager.SetModels({Config()});
    manager.PollNow();
    ExportSmallModel(Path("m"), 2);
    FileSystem::ForPath("/").WriteFileAtomically(Path("m/2/saved_model.pb"), "damaged");
    MakeOld(Path("m/2"));
    manager.PollNow();
    EXPECT_EQ(Newest(manager), 1);
    EXPECT_EQ(StatusOfVersion(manager, 2).state,
              retries == 0 ? VersionState::kEnd : VersionState::kStart);
    EXPECT_EQ(StatusOfVersion(manager, 2).status.code(), Code::kDataLoss);
    EXPECT_EQ(manager.NotReady(), "");
    // Mended, it is tried again, and at once.
    fs::copy(Path("m/1/saved_model.pb"), Path("m/2/saved_model.pb"),
             fs::copy_options::overwrite_existing);
    MakeOld(Path("m/2"));
    manager.PollNow();
    EXPECT_EQ(Newest(manager), 2);
  }
}

TEST_F(ModelManagerTest, AVersionWithoutItsVariablesDoesNotDisplaceAGoodOne) {
  ExportSmallModel(Path("m"), 1);
  ModelManager manager(Options());
  manager.SetModels({Config()});
  manager.PollNow();
  ExportSmallModel(Path("m"), 2);
  fs::rename(Path("m/2/variables"), Path("variables"));
  MakeOld(Path("m/2"));
  manager.PollNow();
  EXPECT_EQ(Newest(manager), 1);
  EXPECT_EQ(StatusOfVersion(manager, 2).state, VersionState::kEnd);
  EXPECT_EQ(StatusOfVersion(manager, 2).status.code(), Code::kNotFound);
  EXPECT_NE(StatusOfVersion(manager, 2).status.message().find("variables.index"),
            std::string::npos);
  // A part of them alone is a copy under way.
  fs::create_directory(Path("m/2/variables"));
  fs::copy(Path("variables/variables.index"), Path("m/2/variables"));
  MakeOld(Path("m/2"));
  manager.PollNow();
  EXPECT_EQ(Newest(manager), 1);
  fs::remove_all(Path("m/2/variables"));
  fs::rename(Path("variables"), Path("m/2/variables"));
  MakeOld(Path("m/2"));
  manager.PollNow();
  EXPECT_EQ(Newest(manager), 2);
}

// Whoever keeps the last few exports deletes one that is being loaded: whatever file is missed
// first, what serves goes on, and the version that went away is not tried for ever.
TEST_F(ModelManagerTest, AnExportMayGoWhileItLoads) {
  ExportSmallModel(Path("m"), 1);
  ModelManagerOptions options = Options();
  options.max_load_retries = 5;
  ModelManager manager(options);
  manager.SetModels({Config()});
  manager.PollNow();
  for (int64_t version = 2; version < 22; ++version) {
    const std::string path = ExportSmallModel(Path("m"), version);
    std::thread remover([&] {
      while (StatusOf([&] { manager.StatusOf("m", {.version = version}); }).code() ==
             Code::kNotFound) {
        std::this_thread::yield();
      }
      fs::remove_all(path);
    });
    manager.PollNow();
    remover.join();
    manager.PollNow();
    // It was loaded as a whole, or not at all; the version before it, if on disk, serves again.
    const int64_t serving = Newest(manager);
    const auto servable = manager.Find("m", {});
    std::vector<Tensor> outputs(1);
    servable->FindSignature("").signature().Call(std::vector<Tensor>{Tensor::Of<float>({2})}, {},
                                                 outputs);
    EXPECT_TRUE(outputs[0].Identical(Tensor::Of<float>({3}))) << serving;
    EXPECT_EQ(manager.NotReady(), "");
    EXPECT_TRUE(serving == version || serving == 1) << serving;
  }
}

TEST_F(ModelManagerTest, AnOlderVersionServesWhereTheNewestNeverLoaded) {
  ExportSmallModel(Path("m"), 1);
  ExportSmallModel(Path("m"), 2);
  ExportSmallModel(Path("m"), 3);
  FileSystem::ForPath("/").WriteFileAtomically(Path("m/3/saved_model.pb"), "damaged");
  MakeOld(Path("m/3"));
  for (const int retries : {0, 5}) {
    ModelManagerOptions options = Options();
    options.max_load_retries = retries;
    ModelManager manager(options);
    manager.SetModels({Config()});
    manager.PollNow();
    EXPECT_EQ(Newest(manager), 2);
    EXPECT_EQ(StatusOfVersion(manager, 3).status.code(), Code::kDataLoss);
    EXPECT_EQ(StatusOf([&] { manager.StatusOf("m", {.version = 1}); }).code(), Code::kNotFound);
  }
}

TEST_F(ModelManagerTest, WhatServesStaysWhenFilesGo) {
  ExportSmallModel(Path("m"), 1);
  ModelManager manager(Options());
  manager.SetModels({Config()});
  manager.PollNow();
  fs::remove_all(Path("m"));
  manager.PollNow();
  EXPECT_EQ(Newest(manager), 1);
}

TEST_F(ModelManagerTest, LabelsAndTrafficChooseVersions) {
  for (const int64_t version : {1, 2}) ExportSmallModel(Path("m"), version);
  ModelManager manager(Options());
  ModelConfig config = Config();
  config.policy.kind = VersionPolicy::Kind::kAll;
  manager.SetModels({config});
  manager.PollNow();
  config.labels = {{"stable", 1}};
  config.traffic = {{1, 3}, {2, 1}};
  manager.SetModels({config});
  EXPECT_EQ(manager.Find("m", {.label = "stable"})->version(), 1);
  EXPECT_EQ(StatusOf([&] { manager.Find("m", {.label = "other"}); }).code(), Code::kNotFound);
  int first = 0;
  for (int i = 0; i < 400; ++i) first += Newest(manager) == 1 ? 1 : 0;
  EXPECT_NEAR(first, 300, 20);
  std::map<int64_t, int> sticky;
  for (int key = 0; key < 200; ++key) {
    const std::string text = std::to_string(key);
    const int64_t version = manager.Find("m", {.sticky_key = text})->version();
    EXPECT_EQ(manager.Find("m", {.sticky_key = text})->version(), version);
    ++sticky[version];
  }
  EXPECT_NEAR(sticky[1], 150, 30);
}

TEST_F(ModelManagerTest, ConfigurationsAreTakenAsAWhole) {
  ExportSmallModel(Path("m"), 1);
  ModelManager manager(Options());
  manager.SetModels({Config()});
  manager.PollNow();
  ModelConfig label = Config();
  label.labels = {{"next", 2}};
  EXPECT_EQ(StatusOf([&] { manager.SetModels({label}); }).code(), Code::kFailedPrecondition);
  EXPECT_EQ(StatusOf([&] {
              manager.SetModels({Config(), {.name = "n", .base_path = Path("none")}});
            }).code(),
            Code::kNotFound);
  EXPECT_EQ(manager.models().size(), 1u);
  EXPECT_EQ(Newest(manager), 1);
  manager.SetModels({});
  EXPECT_EQ(StatusOf([&] { manager.Find("m", {}); }).code(), Code::kNotFound);
}

TEST_F(ModelManagerTest, NoRequestFailsWhileVersionsChange) {
  ExportSmallModel(Path("m"), 1);
  ModelManager manager(Options());
  manager.SetModels({Config()});
  manager.PollNow();
  std::atomic<bool> end{false};
  std::atomic<int64_t> failures{0}, requests{0};
  std::thread client([&] {
    const std::vector<Tensor> inputs = {Tensor::Of<float>({2})};
    std::vector<Tensor> outputs(1);
    while (!end) {
      try {
        const auto servable = manager.Find("m", {});
        servable->FindSignature("").signature().Call(inputs, {}, outputs);
        if (outputs[0].data<float>()[0] != 3) ++failures;
      } catch (const Error&) {
        ++failures;
      }
      ++requests;
    }
  });
  for (int64_t version = 2; version < 12; ++version) {
    ExportSmallModel(Path("m"), version);
    manager.PollNow();
    EXPECT_EQ(Newest(manager), version);
  }
  end = true;
  client.join();
  EXPECT_EQ(failures, 0);
  EXPECT_GT(requests, 0);
}

TEST_F(ModelManagerTest, EndsWhileItLoads) {
  ExportSmallModel(Path("m"), 1);
  for (int i = 0; i < 5; ++i) {
    ModelManager manager(Options());
    manager.SetModels({Config()});
  }
}

}  // namespace
}  // namespace sextant::serving
