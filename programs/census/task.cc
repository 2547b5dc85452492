// Trains, evaluates and exports the census model in one call, as trainer.task of the document does.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "census/model.h"

namespace sx = sextant;

namespace {

struct Arguments {
  std::vector<std::string> train_files, eval_files;
  std::string job_dir;
  std::optional<int64_t> num_epochs, train_steps, seed;
  int64_t train_batch_size = 40, eval_batch_size = 40, eval_steps = 100;
  int64_t embedding_size = 8, first_layer_size = 100, num_layers = 4;
  double scale_factor = 0.7;
  std::string export_format = "JSON", verbosity = "INFO";
  int64_t shuffle_buffer = 0;
  // Of no use: batches are made ahead, by as many threads as they need.
  std::optional<int64_t> num_parallel_calls, prefetch_buffer_size;
};

void SetVerbosity(const std::string& verbosity) {
  sx::SetLogFormat(sx::LogFormat::kTensorFlow);
  sx::SetLogLevel(verbosity == "DEBUG"   ? sx::LogLevel::kDebug
                  : verbosity == "INFO"  ? sx::LogLevel::kInfo
                  : verbosity == "WARN"  ? sx::LogLevel::kWarning
                  : verbosity == "ERROR" ? sx::LogLevel::kError
                                         : sx::LogLevel::kOff);
}

// Sizes of the hidden layers, which decay exponentially.
std::vector<int64_t> HiddenUnits(const Arguments& args) {
  std::vector<int64_t> units;
  for (int64_t i = 0; i < args.num_layers; ++i) {
    const double size = static_cast<double>(args.first_layer_size) *
                        std::pow(args.scale_factor, static_cast<double>(i));
    units.push_back(std::max<int64_t>(2, static_cast<int64_t>(std::min(size, 1e9))));
  }
  return units;
}

void RunExperiment(const Arguments& args) {
  if (args.job_dir.empty()) throw sx::InvalidArgument("--job-dir must name a folder, not ''");
  SetVerbosity(args.verbosity);
  const sx::InterruptScope signals;
  sx::RunConfig run_config{.model_dir = args.job_dir,
                           .random_seed = args.seed,
                           .log_style = sx::LogStyle::k2017,
                           .cancellation = signals.token()};
  fmt::print("model dir {}\n", run_config.model_dir);
  std::fflush(stdout);

  const auto train_input = [&] {
    return census::InputFn(args.train_files, {.num_epochs = args.num_epochs,
                                              .shuffle_buffer = args.shuffle_buffer,
                                              .batch_size = args.train_batch_size,
                                              .seed = args.seed});
  };
  // Don't shuffle evaluation data.
  const auto eval_input = [&] {
    return census::InputFn(args.eval_files, {.shuffle = false, .batch_size = args.eval_batch_size});
  };

  const sx::TrainSpec train_spec{.input_fn = train_input, .max_steps = args.train_steps};
  const auto exporter = sx::FinalExporter("census", census::ServingInput(args.export_format));
  const sx::EvalSpec eval_spec{.input_fn = eval_input,
                               .steps = args.eval_steps,
                               .name = "census-eval",
                               .exporters = {exporter}};

  const sx::Estimator estimator =
      census::BuildEstimator(run_config, args.embedding_size, HiddenUnits(args));
  sx::TrainAndEvaluate(estimator, train_spec, eval_spec);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments args;
  sx::Flags flags("Trains a wide & deep model on the census data, evaluates and exports it.");
  flags.Add("train-files", &args.train_files, "CSV files to train on", {.required = true})
      .Add("eval-files", &args.eval_files, "CSV files to evaluate on", {.required = true})
      .Add("job-dir", &args.job_dir, "where checkpoints, events and the export go",
           {.required = true})
      .Add("num-epochs", &args.num_epochs, "passes over the training data; none: no end",
           {.min = 1})
      .Add("train-batch-size", &args.train_batch_size, "rows of a training step",
           {.min = 1, .max = 1 << 24})
      .Add("eval-batch-size", &args.eval_batch_size, "rows of an evaluation step",
           {.min = 1, .max = 1 << 24})
      .Add("embedding-size", &args.embedding_size, "numbers for a country or an occupation",
           {.min = 1, .max = 1 << 20})
      .Add("first-layer-size", &args.first_layer_size, "units of the first hidden layer",
           {.min = 1, .max = 1 << 20})
      .Add("num-layers", &args.num_layers, "hidden layers", {.min = 1, .max = 1000})
      .Add("scale-factor", &args.scale_factor, "how quickly layers become smaller",
           {.min = 0, .max = 10})
      .Add("train-steps", &args.train_steps, "train until this step; none: until the data ends",
           {.min = 1})
      .Add("eval-steps", &args.eval_steps, "batches of an evaluation", {.min = 1})
      .Add("export-format", &args.export_format, "the input of the exported model",
           {.choices = {"JSON", "CSV", "EXAMPLE"}})
      .Add("verbosity", &args.verbosity, "least level of log lines",
           {.choices = {"DEBUG", "ERROR", "FATAL", "INFO", "WARN"}})
      .Add("shuffle-buffer", &args.shuffle_buffer, "rows to draw the next one from; 0: 10 batches",
           {.min = 0})
      .Add("num-parallel-calls", &args.num_parallel_calls, "not used", {.min = 1})
      .Add("prefetch_buffer_size", &args.prefetch_buffer_size, "not used", {.min = 0})
      .Add("seed", &args.seed, "of everything random", {.min = 0});
  return flags.Main(argc, argv, [&] { RunExperiment(args); });
}
