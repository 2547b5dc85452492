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
  int64_t max_steps = 1000000, num_gpus = 4;
  bool log_device_placement = false;
  std::optional<int64_t> seed;
};

void Run(const Options& options) {
  cifar10::CheckTrainDir(options.train_dir);
  cifar10::MaybeDownloadAndExtract(options.input.data_dir);
  const bool cpu = options.tower_device == "CPU";
  sx::Graph graph;
  graph.set_seed(options.seed);
  const sx::GraphScope use(graph);
  const cifar10::Towers towers =
      cifar10::BuildTowers({.num_towers = options.num_gpus,
                            .device = cpu ? "cpu" : "gpu",
                            .batch_size = options.input.batch_size},
                           [&] { return cifar10::DistortedInputs(options.input); });
  cifar10::RemakeTrainDir(options.train_dir);
  // Devices that are not there are replaced by /cpu:0 (allow_soft_placement).
  cifar10::RunTrainingLoop(
      {.loss = towers.loss, .train = towers.train, .summaries = towers.summaries},
      {.train_dir = options.train_dir,
       .max_steps = options.max_steps,
       .batch_size = options.input.batch_size,
       .num_towers = options.num_gpus,
       .session = {.host_devices = cpu ? static_cast<int>(options.num_gpus) : 1,
                   .log_device_placement = options.log_device_placement}});
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  sx::Flags flags("Trains the CIFAR-10 network with a tower on each of several devices.");
  flags.Add("batch_size", &options.input.batch_size, "images of a step of one tower", {.min = 1});
  flags.Add("data_dir", &options.input.data_dir, "folder of cifar-10-batches-bin");
  flags.Add("train_dir", &options.train_dir, "folder of events and checkpoints; made anew");
  flags.Add("max_steps", &options.max_steps, "number of steps", {.min = 1});
  flags.Add("num_gpus", &options.num_gpus, "towers, one on each", {.min = 1, .max = 64});
  flags.Add("tower_device", &options.tower_device, "kind of the towers' devices",
            {.choices = {"GPU", "CPU"}});
  flags.Add("log_device_placement", &options.log_device_placement, "log the device of each node");
  flags.Add("num_threads", &options.input.num_threads, "that fill each tower's queue",
            {.min = 1, .max = 1024});
  flags.Add("seed", &options.seed, "of weights, order and distortion; none: another one each time");
  return flags.Main(argc, argv, [&] { Run(options); });
}
