// Trains and evaluates ResNet on CIFAR-10, on one or several devices.
#include <fmt/format.h>

#include <algorithm>

#include "cifar10_estimator/cifar10.h"
#include "cifar10_estimator/cifar10_flags.h"
#include "cifar10_estimator/cifar10_model.h"
#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

using cifar10::Options;

sx::HParams ParamsOf(const Options& o, const sx::RunConfig& config) {
  const bool gpu = o.num_gpus > 0 && o.tower_device == "GPU";
  const int64_t workers = o.underscored ? 1 : std::max<int64_t>(1, config.task.num_workers);
  return {{"num_layers", o.num_layers},
          {"num_towers", std::max<int64_t>(1, o.num_gpus)},
          {"tower_device", gpu ? "gpu" : "cpu"},
          {"variable_strategy", o.variable_strategy},
          {"data_format", o.data_format},
          {"crop_24", o.crop_24},
          {"train_batch_size", o.train_batch_size},
          {"learning_rate", o.learning_rate},
          {"momentum", o.momentum},
          {"weight_decay", o.weight_decay},
          {"batch_norm_decay", o.batch_norm_decay},
          {"batch_norm_epsilon", o.batch_norm_epsilon},
          {"sync", o.sync},
          {"num_workers", o.num_workers.value_or(workers)}};
}

void Run(const sx::Flags& flags, Options o) {
  sx::SetLogFormat(sx::LogFormat::kTensorFlow);
  cifar10::Check(flags, o);
  const sx::InterruptScope signals;
  sx::RunConfig config{.model_dir = o.job_dir,
                       .random_seed = o.seed,
                       .log_style = sx::LogStyle::k2017,
                       .cancellation = signals.token()};
  config.session.threads = static_cast<int>(o.num_intra_threads);
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
  if (config.task.type != "ps") {  // a parameter server reads none
    for (const char* subset : {"train", "eval"}) cifar10::DataSet{o.data_dir, subset}.Check();
  }
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

}  // namespace

int main(int argc, char** argv) {
  Options options{.underscored = cifar10::IsUnderscored(argc, argv)};
  sx::Flags flags("Trains ResNet on CIFAR-10 and evaluates it.");
  cifar10::AddFlags(flags, options);
  return flags.Main(argc, argv, [&] { Run(flags, options); });
}
