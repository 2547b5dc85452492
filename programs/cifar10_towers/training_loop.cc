#include "cifar10_towers/training_loop.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "cifar10_towers/cifar10_input.h"
#include "find_batch_size/find_batch_size.h"
#include "training_files/training_files.h"

namespace sx = sextant;

namespace cifar10 {
namespace {

// See kQueueIsFull; until the queues' threads stop.
void AwaitQueues(sx::Session& session, sx::train::Coordinator& coordinator) {
  for (const sx::Output& full : session.graph().Collection(kQueueIsFull)) {
    while (!coordinator.ShouldStop() && !session.Run(full).scalar<bool>()) {
      coordinator.WaitForStop(std::chrono::milliseconds(1));
    }
  }
}

void RunSteps(sx::Session& session, sx::Saver& saver, sx::train::Coordinator& coordinator,
              const Training& training, const LoopOptions& options) {
  sx::train::SummaryWriter writer(options.train_dir, session.graph());
  for (int64_t step = 0; step < options.max_steps; ++step) {
    AwaitQueues(session, coordinator);
    const auto start = std::chrono::steady_clock::now();
    const float loss = session.Run({}, std::vector<sx::Output>{training.loss}, {training.train})[0]
                           .scalar<float>();
    const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - start;
    if (std::isnan(loss)) throw sx::Internal("Model diverged with loss = NaN");
    if (step % 10 == 0) {
      const auto towers = static_cast<double>(options.num_towers);
      const double examples = static_cast<double>(options.batch_size) * towers;
      fmt::print("{}: step {}, loss = {:.2f} ({:.1f} examples/sec; {:.3f} sec/batch)\n", Now(),
                 step, loss, examples / duration.count(), duration.count() / towers);
      std::fflush(stdout);
    }
    if (step % 100 == 0) {
      AwaitQueues(session, coordinator);
      writer.AddSummary(session.Run(training.summaries), step);
    }
    if (step % 1000 == 0 || step + 1 == options.max_steps) {
      saver.Save(session, sx::JoinPath(options.train_dir, "model.ckpt"), step);
    }
  }
  writer.Close();
}

}  // namespace

std::string Now() {
  const auto now = std::chrono::system_clock::now();
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06}",
                     fmt::localtime(std::chrono::system_clock::to_time_t(now)), micros % 1000000);
}

void CheckTrainDir(const std::string& train_dir) {
  if (train_dir.empty()) throw sx::InvalidArgument("--train_dir must name a folder, not ''");
  const std::string foreign =
      programs::FirstForeignFile(train_dir, programs::CheckpointsAndEvents());
  if (foreign.empty()) return;
  throw sx::FailedPrecondition(
      "{} holds '{}', which no training makes, and would be deleted; choose another --train_dir",
      train_dir, foreign);
}

void RemakeTrainDir(const std::string& train_dir) {
  CheckTrainDir(train_dir);
  sx::FileSystem& files = sx::FileSystem::ForPath(train_dir);
  if (files.Exists(train_dir)) files.DeleteRecursively(train_dir);
  files.CreateDirectories(train_dir);
}

void RunTrainingLoop(const Training& training, const LoopOptions& options) {
  const sx::Operation init = sx::GlobalVariablesInitializer();
  sx::Saver saver(sx::CurrentGraph());
  sx::Session session(sx::CurrentGraph(), options.session);
  session.Run(init);
  sx::train::Coordinator coordinator;
  sx::train::StartQueueRunners(session, coordinator);
  try {
    RunSteps(session, saver, coordinator, training, options);
  } catch (const sx::Error&) {  // because an input thread failed, perhaps: that is said instead
    coordinator.RequestStop();
    coordinator.Join();
    throw;
  }
  coordinator.RequestStop();
  coordinator.Join();
}

void FindBatchSize(const std::function<Training(int64_t batch_size)>& build,
                   const sx::SessionOptions& session_options) {
  programs::FindBatchSize(kTrainImages, [&](int64_t size) {
    sx::Graph graph;
    const sx::GraphScope use(graph);
    const Training training = build(size);
    const sx::Operation init = sx::GlobalVariablesInitializer();
    sx::Session session(graph, session_options);
    session.Run(init);
    session.Run(training.train);
  });
}

}  // namespace cifar10
