// Trains the CIFAR-10 network with a tower on each of several devices.
#include "cifar10_towers/cifar10_input.h"
#include "cifar10_towers/towers.h"
#include "cifar10_towers/training_loop.h"
#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

struct Options {
  cifar10::InputOptions input{.data_dir = "/tmp/cifar10_data"};
  std::string train_dir = "/tmp/cifar10_train", tower_device = "GPU";
  int64_t max_steps = 1000000, num_gpus = 4, memory_limit = 0;
  bool log_device_placement = false, find_batch_size = false;
  std::optional<int64_t> seed;
};

cifar10::Training Build(const Options& options, int64_t batch_size,
                        const std::function<cifar10::Batch()>& input) {
  const cifar10::Towers towers =
      cifar10::BuildTowers({.num_towers = options.num_gpus,
                            .device = options.tower_device == "CPU" ? "cpu" : "gpu",
                            .batch_size = batch_size},
                           input);
  return {.loss = towers.loss, .train = towers.train, .summaries = towers.summaries};
}

void Run(const Options& options) {
  // Devices that are not there are replaced by /cpu:0 (allow_soft_placement).
  const sx::SessionOptions session{
      .host_devices = options.tower_device == "CPU" ? static_cast<int>(options.num_gpus) : 1,
      .log_device_placement = options.log_device_placement,
      .memory_limit = options.memory_limit};
  if (options.find_batch_size) {
    const auto build = [&](int64_t size) {
      return Build(options, size, [=] { return cifar10::MadeUpBatch(size); });
    };
    return cifar10::FindBatchSize(build, session);
  }
  cifar10::CheckTrainDir(options.train_dir);
  cifar10::MaybeDownloadAndExtract(options.input.data_dir);
  sx::Graph graph;
  graph.set_seed(options.seed);
  const sx::GraphScope use(graph);
  const cifar10::Training training = Build(options, options.input.batch_size,
                                           [&] { return cifar10::DistortedInputs(options.input); });
  cifar10::RemakeTrainDir(options.train_dir);
  cifar10::RunTrainingLoop(training, {.train_dir = options.train_dir,
                                      .max_steps = options.max_steps,
                                      .batch_size = options.input.batch_size,
                                      .num_towers = options.num_gpus,
                                      .session = session});
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  sx::Flags flags("Trains the CIFAR-10 network with a tower on each of several devices.");
  flags.Add("batch_size", &options.input.batch_size, "images of a step of one tower",
            {.min = 1, .max = cifar10::kTrainImages});
  flags.Add("data_dir", &options.input.data_dir, "folder of cifar-10-batches-bin");
  flags.Add("train_dir", &options.train_dir, "folder of events and checkpoints; made anew");
  flags.Add("max_steps", &options.max_steps, "number of steps", {.min = 1});
  flags.Add("num_gpus", &options.num_gpus, "towers, one on each", {.min = 1, .max = 64});
  flags.Add("tower_device", &options.tower_device, "kind of the towers' devices",
            {.choices = {"GPU", "CPU"}});
  flags.Add("log_device_placement", &options.log_device_placement, "log the device of each node");
  flags.Add("memory_limit", &options.memory_limit, "bytes of tensors alive at once; 0: no limit",
            {.min = 0});
  flags.Add("find_batch_size", &options.find_batch_size,
            "only look for the largest batch of a tower");
  flags.Add("num_threads", &options.input.num_threads, "that fill each tower's queue",
            {.min = 1, .max = 1024});
  flags.Add("seed", &options.seed, "of weights, order and distortion; none: another one each time");
  return flags.Main(argc, argv, [&] { Run(options); });
}
