// Trains the CIFAR-10 network on one device.
#include "cifar10_towers/cifar10.h"
#include "cifar10_towers/cifar10_input.h"
#include "cifar10_towers/training_loop.h"
#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

struct Options {
  cifar10::InputOptions input{.data_dir = "/tmp/cifar10_data"};
  std::string train_dir = "/tmp/cifar10_train";
  int64_t max_steps = 1000000, memory_limit = 0;
  bool log_device_placement = false, find_batch_size = false;
  std::optional<int64_t> seed;
};

// The update of the variables and all summaries, as the original's cifar10.train().
cifar10::Training Train(sx::Output total_loss, const sx::Variable& global_step,
                        int64_t batch_size) {
  const sx::Output rate = cifar10::LearningRate(global_step, batch_size);
  const sx::train::Optimizer optimizer = sx::train::GradientDescent(
      {.learning_rate = sx::train::LearningRate([=](sx::Output) { return rate; })});
  const std::vector<sx::Output> losses = sx::CurrentGraph().Collection(cifar10::kLosses);
  const sx::Operation averages = cifar10::AddLossSummaries(losses, total_loss, " (raw)");
  const auto gradients = [&] {
    const sx::ControlDependencies after({averages});
    return optimizer.ComputeGradients(sx::Identity(total_loss));
  }();
  const cifar10::Update update = cifar10::ApplyGradients(gradients, optimizer, rate, global_step);
  return {.loss = total_loss,
          .train = sx::Group({averages, update.train}),
          .summaries = sx::summaries::MergeAll()};
}

cifar10::Training Build(const cifar10::Batch& batch, const sx::Variable& global_step,
                        int64_t batch_size) {
  const sx::Output loss = cifar10::Loss(cifar10::Inference(batch.images), batch.labels);
  return Train(loss, global_step, batch_size);
}

void Run(const Options& options) {
  const sx::SessionOptions session{.log_device_placement = options.log_device_placement,
                                   .memory_limit = options.memory_limit};
  if (options.find_batch_size) {
    const auto build = [](int64_t size) {
      const sx::Variable global_step = sx::train::GetOrCreateGlobalStep();
      return Build(cifar10::MadeUpBatch(size), global_step, size);
    };
    return cifar10::FindBatchSize(build, session);
  }
  cifar10::CheckTrainDir(options.train_dir);
  cifar10::MaybeDownloadAndExtract(options.input.data_dir);
  sx::Graph graph;
  graph.set_seed(options.seed);
  const sx::GraphScope use(graph);
  const sx::Variable global_step = sx::train::GetOrCreateGlobalStep();
  const cifar10::Batch batch = cifar10::DistortedInputs(options.input);
  const cifar10::Training training = Build(batch, global_step, options.input.batch_size);
  cifar10::RemakeTrainDir(options.train_dir);
  cifar10::RunTrainingLoop(training, {.train_dir = options.train_dir,
                                      .max_steps = options.max_steps,
                                      .batch_size = options.input.batch_size,
                                      .session = session});
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  sx::Flags flags("Trains the CIFAR-10 network of the tower tutorial on one device.");
  flags.Add("batch_size", &options.input.batch_size, "images of a step",
            {.min = 1, .max = cifar10::kTrainImages});
  flags.Add("data_dir", &options.input.data_dir, "folder of cifar-10-batches-bin");
  flags.Add("train_dir", &options.train_dir, "folder of events and checkpoints; made anew");
  flags.Add("max_steps", &options.max_steps, "number of steps", {.min = 1});
  flags.Add("log_device_placement", &options.log_device_placement, "log the device of each node");
  flags.Add("memory_limit", &options.memory_limit, "bytes of tensors alive at once; 0: no limit",
            {.min = 0});
  flags.Add("find_batch_size", &options.find_batch_size, "only look for the largest batch");
  flags.Add("num_threads", &options.input.num_threads, "that fill the queue",
            {.min = 1, .max = 1024});
  flags.Add("seed", &options.seed, "of weights, order and distortion; none: another one each time");
  return flags.Main(argc, argv, [&] { Run(options); });
}
