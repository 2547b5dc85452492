#include "sextant/train/hooks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/proto/step_stats.pb.h"
#include "sextant/train/global_step.h"
#include "sextant/train/hooked_run.h"
#include "sextant/train/monitored_session.h"

namespace sextant::train {
namespace {

struct Counter {
  Graph graph;
  Operation step;
  Variable global_step;
  Counter() {
    const GraphScope use(graph);
    global_step = GetOrCreateGlobalStep();
    step = global_step.AssignAdd(Const(Tensor(int64_t{1})));
  }
};

// Closes the session behind each step and asks for the global step then: a Run would fail.
class AskAfterClose : public Hook {
 public:
  void AfterRun(RunContext& run) override {
    run.session().Close();
    seen = run.global_step();
  }
  int64_t seen = -1;
};

TEST(HooksTest, TheGlobalStepOfAStepTakesNoRun) {
  Counter counter;
  Session session(counter.graph);
  session.Run(counter.global_step.initializer());
  const auto hook = std::make_shared<AskAfterClose>();
  HookedRun run(session, {hook});
  EXPECT_EQ(run.global_step(), 0);
  run.Run({}, {}, {counter.step});
  EXPECT_EQ(hook->seen, 1);
  EXPECT_EQ(run.global_step(), 1);
}

TEST(HooksTest, ProfilesStepsForTimelinesAndTensorBoard) {
  const std::string directory = std::string(SEXTANT_BINARY_DIR) + "/hooks_test_profile";
  std::filesystem::remove_all(directory);
  Counter counter;
  std::map<int64_t, std::string> written;
  const HookRef profile = ProfileSteps(
      directory, {.steps = 2}, [&](const std::string& tag, std::string bytes, int64_t step) {
        EXPECT_EQ(tag, "step_" + std::to_string(step));
        written[step] = std::move(bytes);
      });
  MonitoredSession session(counter.graph, {.hooks = {profile}});
  for (int i = 0; i < 4; ++i) session.Run(counter.step);
  session.Close();
  ASSERT_EQ(written.size(), 2u);
  ASSERT_TRUE(written.contains(1) && written.contains(3));
  proto::RunMetadata metadata;
  ASSERT_TRUE(metadata.ParseFromString(written[3]));
  bool found = false;
  for (const auto& device : metadata.step_stats().dev_stats()) {
    for (const auto& node : device.node_stats()) {
      found |= node.node_name().find("AssignAddVariableOp") != std::string::npos;
      EXPECT_GT(node.all_start_micros(), 0);
    }
  }
  EXPECT_TRUE(found) << metadata.ShortDebugString();
  FileSystem& files = FileSystem::ForPath(directory);
  EXPECT_TRUE(files.Exists(directory + "/timeline-1.json"));
  EXPECT_TRUE(files.Exists(directory + "/timeline-3.json"));
  EXPECT_FALSE(files.Exists(directory + "/timeline-2.json"));
  std::filesystem::remove_all(directory);
}

TEST(HooksTest, MeasuresMemory) {
  Counter counter;
  std::map<std::string, std::vector<std::pair<int64_t, float>>> scalars;
  const HookRef memory =
      LogMemory({.steps = 2}, [&](const std::string& tag, float value, int64_t step) {
        scalars[tag].emplace_back(step, value);
      });
  MonitoredSession session(counter.graph, {.hooks = {memory}});
  for (int i = 0; i < 3; ++i) session.Run(counter.step);
  session.Close();
  const auto& resident = scalars["memory/resident_mb"];
  const auto& peak = scalars["memory/peak_mb"];
  ASSERT_EQ(resident.size(), 2u);
  ASSERT_EQ(peak.size(), 2u);
  EXPECT_EQ(resident[0].first, 1);
  EXPECT_EQ(resident[1].first, 3);
  EXPECT_GT(resident[0].second, 1);
  EXPECT_LT(resident[0].second, 10000);
  EXPECT_GE(peak[1].second, resident[1].second);
}

TEST(HooksTest, WaitsForTheGlobalStepOnceAndNotForEver) {
  Counter counter;
  MonitoredSession started(counter.graph, {.hooks = {WaitForGlobalStep(0)}});
  started.Run(counter.step);  // does not wait
  Counter other;
  MonitoredSession waiting(
      other.graph,
      {.hooks = {WaitForGlobalStep(5, {.poll_seconds = 0.001, .deadline_seconds = 0.01})}});
  try {
    waiting.Run(other.step);
    FAIL() << "did not wait";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kDeadlineExceeded);
    EXPECT_EQ(e.message(), "the global step is 0 and not 5 after 0.01 seconds of waiting");
  }
  // Somebody else counts: the wait ends.
  Counter third;
  MonitoredSession session(
      third.graph,
      {.hooks = {WaitForGlobalStep(2, {.poll_seconds = 0.001, .deadline_seconds = 60})}});
  std::jthread others([&] {
    for (int i = 0; i < 2; ++i) session.session().Run(third.step);
  });
  session.Run(third.step);
  others.join();
  EXPECT_EQ(session.global_step(), 3);
}

}  // namespace
}  // namespace sextant::train
