#include "cifar10_estimator/cifar10_flags.h"

#include <algorithm>
#include <limits>

#include "cifar10_estimator/cifar10.h"

namespace sx = sextant;

namespace cifar10 {
namespace {

constexpr double kLargest = std::numeric_limits<float>::max();

// Whether the session of this machine has the device.
bool HasDevice(const std::string& device) {
  sx::Graph graph;
  const sx::GraphScope use(graph);
  const sx::DeviceScope on(device);
  const sx::Output one = sx::Const(sx::Tensor(1.0f));
  try {
    sx::Session(graph, {.allow_soft_placement = false}).Run(one);
    return true;
  } catch (const sx::Error&) {
    return false;
  }
}

}  // namespace

void AddFlags(sx::Flags& flags, Options& o) {
  flags.Add("data_dir", &o.data_dir, "folder of train.tfrecords and eval.tfrecords");
  flags.Add("job_dir", &o.job_dir,
            "folder of checkpoints and events; required in dashed flags; none: that of TF_CONFIG",
            {.aliases = {"model_dir"}});
  flags.Add("variable_strategy", &o.variable_strategy, "where variables are and are updated",
            {.choices = {"CPU", "GPU"}});
  flags.Add("is_cpu_ps", &o.is_cpu_ps, "false stands for --variable-strategy=GPU");
  flags.Add("num_gpus", &o.num_gpus, "towers, one on each; 0: one tower on the CPU");
  flags.Add("tower_device", &o.tower_device, "kind of the towers' devices",
            {.choices = {"GPU", "CPU"}});
  flags.Add("num_layers", &o.num_layers, "depth of the network, 6 n + 2");
  flags.Add("train_steps", &o.train_steps, "train until this global step", {.min = 1});
  flags.Add("train_batch_size", &o.train_batch_size, "images of a step, over all towers",
            {.min = 1});
  flags.Add("eval_batch_size", &o.eval_batch_size, "images of an evaluation's step", {.min = 1});
  flags.Add("momentum", &o.momentum, "of the optimizer", {.min = 0, .max = kLargest});
  flags.Add("weight_decay", &o.weight_decay, "of all variables", {.min = 0, .max = kLargest});
  flags.Add("learning_rate", &o.learning_rate, "until epoch 82; then 0.1, 0.01, 0.002 of it",
            {.min = 0, .max = kLargest});
  flags.Add("use_distortion_for_training", &o.use_distortion_for_training, "distort images");
  flags.Add("crop_24", &o.crop_24, "crops of 24x24 pixels, standardised, for images of 32x32");
  flags.Add("run_experiment", &o.run_experiment, "evaluate while training; dashed flags always do");
  flags.Add("sync", &o.sync, "update in step with the other workers");
  flags.Add("num_workers", &o.num_workers,
            "that train together, for the schedule and --sync; none: those of TF_CONFIG, with "
            "underscored flags 1",
            {.min = 1});
  flags.Add("num_intra_threads", &o.num_intra_threads,
            "of one op; 0: all cores; with underscored flags 1 unless given",
            {.min = 0, .max = 4096});
  flags.Add("num_inter_threads", &o.num_inter_threads, "not used", {.min = 0, .max = 4096});
  flags.Add("data_format", &o.data_format,
            "of images; channels_last unless given where towers are on the CPU",
            {.choices = {"channels_first", "channels_last"}});
  flags.Add("log_device_placement", &o.log_device_placement, "log the device of each node");
  flags.Add("force_gpu_compatible", &o.force_gpu_compatible, "not used");
  flags.Add("batch_norm_decay", &o.batch_norm_decay, "of the running statistics, less than 1",
            {.min = 0, .max = 0.999999999});
  flags.Add("batch_norm_epsilon", &o.batch_norm_epsilon, "added to variances",
            {.min = 0, .max = kLargest});
  flags.Add("seed", &o.seed, "of weights, order and distortion; none: another one each time");
}

void Check(const sx::Flags& flags, Options& o) {
  if (o.data_dir.empty() && sx::dist::TaskFromEnvironment().type != "ps") {
    throw sx::InvalidArgument("Please supply a data_dir");
  }
  if (!o.underscored && o.job_dir.empty()) {
    throw sx::InvalidArgument("--job-dir is required: the folder of checkpoints and events");
  }
  if (o.underscored && !flags.given("num_intra_threads")) o.num_intra_threads = 1;
  const bool on_gpus = o.num_gpus > 0 && o.tower_device == "GPU";
  if (!on_gpus && !flags.given("data_format")) o.data_format = "channels_last";
  if (!o.is_cpu_ps) o.variable_strategy = "GPU";
  if (o.num_gpus < 0) {
    throw sx::InvalidArgument("--num-gpus must be 0 or a positive number, not {}", o.num_gpus);
  }
  if (o.num_gpus == 0 && o.variable_strategy == "GPU") {
    throw sx::InvalidArgument(
        "without GPUs the CPU must hold the variables: --variable-strategy=CPU");
  }
  sx::models::UnitsPerStage(o.num_layers);  // throws for a depth that is none
  for (const auto& [name, batch] :
       {std::pair("train", o.train_batch_size), {"eval", o.eval_batch_size}}) {
    if (o.num_gpus != 0 && batch % o.num_gpus != 0) {
      throw sx::InvalidArgument("--{}-batch-size {} must be a multiple of --num-gpus {}", name,
                                batch, o.num_gpus);
    }
  }
  if (kEvalImages % o.eval_batch_size != 0) {
    throw sx::InvalidArgument("--eval-batch-size {} must divide the {} images of the evaluation",
                              o.eval_batch_size, kEvalImages);
  }
  if (o.num_gpus == 0 || o.tower_device == "CPU" || HasDevice("/gpu:0")) return;
  if (!o.underscored) {
    throw sx::FailedPrecondition(
        "{} GPUs are asked for and this machine has none; use --num-gpus=0, or --tower-device=CPU "
        "for towers on /cpu:0, /cpu:1, …",
        o.num_gpus);
  }
  sx::LogWarning("{} GPUs are asked for and this machine has none: all towers run on /cpu:0",
                 o.num_gpus);
}

bool IsUnderscored(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view argument) {
    return argument.starts_with("--") &&
           argument.substr(0, argument.find('=')).find('_') != std::string_view::npos;
  });
}

}  // namespace cifar10
