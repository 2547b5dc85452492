// Trains and evaluates ResNet on CIFAR-10, on one or several devices.
#include <fmt/format.h>

#include <algorithm>

#include "cifar10_estimator/cifar10.h"
#include "cifar10_estimator/cifar10_model.h"
#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

struct Options {
  std::string data_dir, job_dir;
  std::string variable_strategy = "CPU", tower_device = "GPU", data_format;
  bool is_cpu_ps = true;
  int64_t num_gpus = 1, num_layers = 44, train_steps = 80000;
  int64_t train_batch_size = 128, eval_batch_size = 100, num_workers = 1;
  double momentum = 0.9, weight_decay = 2e-4, learning_rate = 0.1;
  double batch_norm_decay = 0.997, batch_norm_epsilon = 1e-5;
  bool use_distortion_for_training = true, crop_24 = false;
  bool run_experiment = false, sync = false, log_device_placement = false;
  bool force_gpu_compatible = false;  // of no use here
  std::optional<int64_t> num_intra_threads;
  int64_t num_inter_threads = 0;  // of no use, as in the original
  std::optional<int64_t> seed;
  bool underscored = false;  // the older set of flags, with its defaults
};

void AddFlags(sx::Flags& flags, Options& o) {
  flags.Add("data_dir", &o.data_dir, "folder of train.tfrecords and eval.tfrecords");
  flags.Add("job_dir", &o.job_dir, "folder of checkpoints and events; \"\": that of TF_CONFIG",
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
  flags.Add("momentum", &o.momentum, "of the optimizer");
  flags.Add("weight_decay", &o.weight_decay, "of all variables");
  flags.Add("learning_rate", &o.learning_rate, "until epoch 82; then 0.1, 0.01, 0.002 of it");
  flags.Add("use_distortion_for_training", &o.use_distortion_for_training, "distort images");
  flags.Add("crop_24", &o.crop_24, "crops of 24x24 pixels, standardised, for images of 32x32");
  flags.Add("run_experiment", &o.run_experiment, "evaluate while training; dashed flags always do");
  flags.Add("sync", &o.sync, "update in step with the other workers");
  flags.Add("num_workers", &o.num_workers, "that train together: for the schedule", {.min = 1});
  flags.Add("num_intra_threads", &o.num_intra_threads, "of one op; 0: all cores");
  flags.Add("num_inter_threads", &o.num_inter_threads, "not used");
  flags.Add("data_format", &o.data_format, "default: channels_first on GPUs, else channels_last",
            {.choices = {"", "channels_first", "channels_last"}});
  flags.Add("log_device_placement", &o.log_device_placement, "log the device of each node");
  flags.Add("force_gpu_compatible", &o.force_gpu_compatible, "not used");
  flags.Add("batch_norm_decay", &o.batch_norm_decay, "of the running statistics");
  flags.Add("batch_norm_epsilon", &o.batch_norm_epsilon, "added to variances");
  flags.Add("seed", &o.seed, "of weights, order and distortion; none: another one each time");
}

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

void Check(Options& o) {
  if (o.data_dir.empty()) throw sx::InvalidArgument("Please supply a data_dir");
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
  if (cifar10::kEvalImages % o.eval_batch_size != 0) {
    throw sx::InvalidArgument("--eval-batch-size {} must divide the {} images of the evaluation",
                              o.eval_batch_size, cifar10::kEvalImages);
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

sx::HParams ParamsOf(const Options& o, const sx::RunConfig& config) {
  const bool gpu = o.num_gpus > 0 && o.tower_device == "GPU";
  const std::string usual = gpu ? "channels_first" : "channels_last";
  const int64_t in_cluster = std::max<int64_t>(1, config.task.num_workers);
  return {{"num_layers", o.num_layers},
          {"num_towers", std::max<int64_t>(1, o.num_gpus)},
          {"tower_device", gpu ? "gpu" : "cpu"},
          {"variable_strategy", o.variable_strategy},
          {"data_format", o.data_format.empty() ? usual : o.data_format},
          {"crop_24", o.crop_24},
          {"train_batch_size", o.train_batch_size},
          {"learning_rate", o.learning_rate},
          {"momentum", o.momentum},
          {"weight_decay", o.weight_decay},
          {"batch_norm_decay", o.batch_norm_decay},
          {"batch_norm_epsilon", o.batch_norm_epsilon},
          {"sync", o.sync},
          {"num_workers", o.underscored ? o.num_workers : in_cluster}};
}

void Run(Options o) {
  sx::SetLogFormat(sx::LogFormat::kTensorFlow);
  Check(o);
  const sx::InterruptScope signals;
  sx::RunConfig config{.model_dir = o.job_dir,
                       .random_seed = o.seed,
                       .log_style = sx::LogStyle::k2017,
                       .cancellation = signals.token()};
  config.session.threads = static_cast<int>(o.num_intra_threads.value_or(o.underscored ? 1 : 0));
  config.session.log_device_placement = o.log_device_placement;
  if (o.tower_device == "CPU") {
    config.session.host_devices = static_cast<int>(std::max<int64_t>(1, o.num_gpus));
  }
  const sx::InputFn train_input = [&] {
    return cifar10::DataSet{o.data_dir, "train", o.use_distortion_for_training, o.crop_24, o.seed}
        .MakeBatch(o.train_batch_size);
  };
  const sx::InputFn eval_input = [&] {
    return cifar10::DataSet{o.data_dir, "eval", false, o.crop_24}.MakeBatch(o.eval_batch_size);
  };
  const int64_t eval_steps = cifar10::kEvalImages / o.eval_batch_size;
  config = sx::Resolve(config);
  const sx::HParams params = ParamsOf(o, config);
  sx::models::ResnetCifarSchedule(static_cast<float>(o.learning_rate), o.train_batch_size,
                                  params.Get<int64_t>("num_workers"));  // throws for a wrong one
  if (o.run_experiment || !o.underscored) {
    sx::RunExperiment(
        [&](const sx::RunConfig& run_config, const sx::HParams& hparams) {
          return sx::Experiment{.estimator = {cifar10::ResnetModelFn, run_config, hparams},
                                .train_input_fn = train_input,
                                .eval_input_fn = eval_input,
                                .train_steps = o.train_steps,
                                .eval_steps = eval_steps};
        },
        config, params);
    return;
  }
  sx::Estimator classifier(cifar10::ResnetModelFn, config, params);
  fmt::print("Starting to train...\n");
  std::fflush(stdout);
  classifier.Train(train_input, {.max_steps = o.train_steps});
  fmt::print("Starting to evaluate...\n");
  std::fflush(stdout);
  std::string results;
  for (const auto& [name, value] : classifier.Evaluate(eval_input, {.steps = eval_steps})) {
    results += fmt::format("{}'{}': {:g}", results.empty() ? "" : ", ", name, value);
  }
  fmt::print("{{{}}}\n", results);
}

// Whether the older flags are used: "--data_dir", not "--data-dir".
bool IsUnderscored(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view argument) {
    return argument.starts_with("--") &&
           argument.substr(0, argument.find('=')).find('_') != std::string_view::npos;
  });
}

}  // namespace

int main(int argc, char** argv) {
  Options options{.underscored = IsUnderscored(argc, argv)};
  sx::Flags flags("Trains ResNet on CIFAR-10 and evaluates it.");
  AddFlags(flags, options);
  return flags.Main(argc, argv, [&] { Run(options); });
}
