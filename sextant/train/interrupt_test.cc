#include "sextant/train/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "sextant/base/error.h"
#include "sextant/base/interrupt.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/train/global_step.h"
#include "sextant/train/monitored_session.h"

namespace sextant::train {
namespace {

// Sends the signal in the middle of a step.
class SendAtStep : public Hook {
 public:
  SendAtStep(int signal, int64_t step) : signal_(signal), step_(step) {}
  void BeforeRun(RunContext& run) override {
    if (run.global_step() + 1 == step_) raise(signal_);
  }

 private:
  const int signal_;
  const int64_t step_;
};

// What a program's training does.
void Train(const std::string& directory, int signal) {
  Graph graph;
  const GraphScope use(graph);
  const Operation step = GetOrCreateGlobalStep().AssignAdd(Const(Tensor(int64_t{1})));
  const InterruptScope interruptible;
  MonitoredSession session(graph,
                           {.checkpoint_dir = directory,
                            .hooks = {StopOnInterrupt(), std::make_shared<SendAtStep>(signal, 3)},
                            .checkpoints = {.every = {.steps = 100}}});
  while (!session.ShouldStop()) session.Run(step);
  session.SaveLast();
  ExitInterrupted(session.global_step(), "run it again to go on");
}

TEST(TrainInterruptTest, FinishesTheStepSavesSaysSoAndExits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // other tests' sessions have left threads
  for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const std::string directory = std::string(SEXTANT_BINARY_DIR) + "/train_interrupt_test";
    std::filesystem::remove_all(directory);
    EXPECT_EXIT(Train(directory, signal), testing::ExitedWithCode(code),
                signal == SIGINT ? "Interrupted by SIGINT at step 3: run it again to go on"
                                 : "Interrupted by SIGTERM at step 3: run it again to go on");
    EXPECT_EQ(LatestCheckpoint(directory).value_or("none"), directory + "/model.ckpt-3");
    std::filesystem::remove_all(directory);
  }
}

TEST(TrainInterruptTest, LoopsThatLeaveNothingThrow) {
  Graph graph;
  const GraphScope use(graph);
  const Operation step = GetOrCreateGlobalStep().AssignAdd(Const(Tensor(int64_t{1})));
  const InterruptScope interruptible;
  MonitoredSession session(graph, {.hooks = {ThrowOnInterrupt()}});
  session.Run(step);
  raise(SIGTERM);
  EXPECT_THROW(session.Run(step), Error);
  EXPECT_EQ(session.global_step(), 1);
}

}  // namespace
}  // namespace sextant::train
