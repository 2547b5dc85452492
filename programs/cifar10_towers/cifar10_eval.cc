// Evaluates the CIFAR-10 network with the moving averages of its variables, again and again.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "cifar10_towers/cifar10.h"
#include "cifar10_towers/cifar10_input.h"
#include "cifar10_towers/training_loop.h"
#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

struct Options {
  cifar10::InputOptions input{.data_dir = "/tmp/cifar10_data"};
  std::string eval_dir = "/tmp/cifar10_eval", checkpoint_dir = "/tmp/cifar10_train";
  std::string eval_data = "test";
  int64_t eval_interval_secs = 300, num_examples = 10000;
  bool run_once = false, moving_averages = true;
};

struct Evaluation {
  sx::Output top_k;  // bool [batch]: whether the label has the highest logit
  sx::Output summaries;
};

// The step of "model.ckpt-1000".
int64_t StepOf(const std::string& checkpoint) {
  const std::string digits = checkpoint.substr(checkpoint.rfind('-') + 1);
  int64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw sx::InvalidArgument("{} has no step in its name, as model.ckpt-1000 has", checkpoint);
  }
  return step;
}

double Precision(sx::Session& session, const Evaluation& evaluation, const Options& options) {
  const int64_t batch = options.input.batch_size;
  const int64_t batches = (options.num_examples + batch - 1) / batch;
  int64_t correct = 0;
  for (int64_t step = 0; step < batches; ++step) {
    const sx::Tensor right = session.Run(evaluation.top_k);
    correct += std::ranges::count(right.flat<bool>(), true);
  }
  return static_cast<double>(correct) / static_cast<double>(batches * batch);
}

void EvaluateOnce(const Evaluation& evaluation, sx::Saver& saver, sx::train::SummaryWriter& writer,
                  const Options& options) {
  const auto checkpoint = sx::LatestCheckpoint(options.checkpoint_dir);
  if (!checkpoint) {
    fmt::print("No checkpoint file found\n");
    return;
  }
  const int64_t step = StepOf(*checkpoint);
  sx::Session session(sx::CurrentGraph());
  saver.Restore(session, *checkpoint);
  sx::train::Coordinator coordinator;
  sx::train::StartQueueRunners(session, coordinator);
  try {
    const double precision = Precision(session, evaluation, options);
    fmt::print("{}: precision @ 1 = {:.3f}\n", cifar10::Now(), precision);
    std::fflush(stdout);
    writer.AddSummary(session.Run(evaluation.summaries), step);
    writer.AddScalar("Precision @ 1", static_cast<float>(precision), step);
    writer.Flush();
  } catch (const sx::Error&) {  // because an input thread failed, perhaps: that is said instead
    coordinator.RequestStop();
    coordinator.Join();
    throw;
  }
  coordinator.RequestStop();
  coordinator.Join(std::chrono::seconds(10));
}

void Run(const Options& options) {
  if (options.eval_dir.empty()) throw sx::InvalidArgument("--eval_dir must name a folder, not ''");
  cifar10::MaybeDownloadAndExtract(options.input.data_dir);
  sx::Graph graph;
  const sx::GraphScope use(graph);
  const cifar10::Batch batch = cifar10::Inputs(options.eval_data == "test", options.input);
  const sx::Output logits = cifar10::Inference(batch.images);
  const Evaluation evaluation{.top_k = sx::InTopK(logits, batch.labels, sx::Const(sx::Tensor(1))),
                              .summaries = sx::summaries::MergeAll()};
  // The averages are restored into the variables.
  const sx::train::MovingAverage averages({.decay = cifar10::kMovingAverageDecay});
  sx::SaverOptions restored;
  if (options.moving_averages) restored.variables = averages.VariablesToRestore();
  sx::Saver saver(graph, restored);
  sx::train::SummaryWriter writer(options.eval_dir, graph);
  while (true) {
    EvaluateOnce(evaluation, saver, writer, options);
    if (options.run_once) return;
    std::this_thread::sleep_for(std::chrono::seconds(options.eval_interval_secs));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  sx::Flags flags("Evaluates the CIFAR-10 network with the averages of its variables.");
  flags.Add("batch_size", &options.input.batch_size, "images of a step",
            {.min = 1, .max = cifar10::kTrainImages});
  flags.Add("data_dir", &options.input.data_dir, "folder of cifar-10-batches-bin");
  flags.Add("eval_dir", &options.eval_dir, "folder of events");
  flags.Add("checkpoint_dir", &options.checkpoint_dir, "folder of the training's checkpoints");
  flags.Add("eval_data", &options.eval_data, "the set to evaluate on",
            {.choices = {"test", "train_eval"}});
  flags.Add("eval_interval_secs", &options.eval_interval_secs, "between evaluations", {.min = 0});
  flags.Add("num_examples", &options.num_examples, "images of an evaluation",
            {.min = 1, .max = 1e12});
  flags.Add("run_once", &options.run_once, "evaluate once only");
  flags.Add("moving_averages", &options.moving_averages, "instead of the variables themselves");
  flags.Add("num_threads", &options.input.num_threads, "that fill the queue",
            {.min = 1, .max = 1024});
  return flags.Main(argc, argv, [&] { Run(options); });
}
