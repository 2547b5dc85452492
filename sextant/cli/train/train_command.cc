#include "sextant/cli/train/train_command.h"

#include <fmt/ostream.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/base/logging.h"
#include "sextant/cli/net_program.h"
#include "sextant/cli/train/metrics_table.h"
#include "sextant/cli/train/train_progress.h"
#include "sextant/cli/train/trained_model.h"
#include "sextant/dist/task.h"
#include "sextant/estimator/train_and_evaluate.h"

namespace sextant::cli {
namespace {

using models::RegisteredModel;

constexpr double kMostSeconds = 1e9;

void SetVerbosity(const std::string& verbosity, bool json) {
  static const std::map<std::string, LogLevel> levels = {{"debug", LogLevel::kDebug},
                                                         {"info", LogLevel::kInfo},
                                                         {"warn", LogLevel::kWarning},
                                                         {"error", LogLevel::kError},
                                                         {"fatal", LogLevel::kOff}};
  if (verbosity.empty()) {
    // The progress line, or the lines of JSON, say the same.
    if (json || isatty(STDERR_FILENO) == 1) SetLogLevel(LogLevel::kWarning);
    return;
  }
  SetLogLevel(levels.at(verbosity));
}

// That of the flags, or of the training that goes on.
std::optional<int64_t> SeedOf(const TrainFlags& flags) {
  if (flags.seed >= 0) return flags.seed;
  return flags.model_dir.empty() ? std::nullopt : SeedOfTraining(flags.model_dir);
}

RunConfig MakeConfig(const TrainFlags& flags, std::optional<int64_t> seed) {
  RunConfig config{.model_dir = flags.model_dir,
                   .save_summary_steps = flags.save_summary_steps,
                   .keep_checkpoint_max = static_cast<int>(flags.keep_checkpoint_max),
                   .log_step_count_steps = flags.log_step_count_steps,
                   .session = {.threads = static_cast<int>(flags.threads)}};
  config.random_seed = seed;
  config.cluster.input_sharding = flags.input_sharding;
  if (flags.save_checkpoints_steps > 0) {
    config.save_checkpoints_steps = flags.save_checkpoints_steps;
  }
  if (flags.save_checkpoints_secs > 0) config.save_checkpoints_secs = flags.save_checkpoints_secs;
  config.cluster.sync = flags.sync;
  config.cluster.replicas_to_aggregate = static_cast<int>(flags.replicas_to_aggregate);
  config.cluster.deterministic = flags.deterministic;
  if (flags.max_staleness >= 0) config.cluster.max_staleness = flags.max_staleness;
  config.cluster.stale_updates = flags.stale_updates;
  if (flags.devices > 1) {
    config.session.host_devices = static_cast<int>(flags.devices);
    config.train_distribute = MirroredStrategy{.reduction = flags.reduction};
    config.eval_distribute = config.train_distribute;
  }
  return config;
}

std::string ExportName(const RegisteredModel& model, const TrainFlags& flags) {
  if (!flags.export_name.empty()) return flags.export_name;
  return model.data_set.empty() ? model.name : model.data_set;
}

// The arguments of this process, without its name.
std::vector<std::string> OwnArguments() {
  const std::string text = FileSystem::ForPath("/").ReadFile("/proc/self/cmdline");
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  words.erase(words.begin());
  return words;
}

// Serves what is exported to the model_dir.
std::shared_ptr<void> StartServer(const RegisteredModel& model, const TrainFlags& flags,
                                  const std::string& model_dir) {
  const std::string name = ExportName(model, flags);
  const std::string base_path = JoinPath(JoinPath(model_dir, "export"), name);
  FileSystem::ForPath(base_path).CreateDirectories(base_path);
  return flags.start_serving(name, base_path, flags.serve);
}

std::vector<ExporterRef> MakeExporters(const RegisteredModel& model, const HParams& params,
                                       const TrainFlags& flags) {
  if (flags.export_format == "none") return {};
  const ServingInputFn receiver = models::FindReceiver(model, params, flags.export_format);
  const std::string name = ExportName(model, flags);
  const ExporterOptions options{.warmup_requests = flags.warmup_requests};
  if (flags.serve > 0 || flags.exporter == "latest") {
    return {LatestExporter(name, receiver, options)};
  }
  if (flags.exporter == "final") return {FinalExporter(name, receiver, options)};
  return {BestExporter(name, receiver, {}, options)};
}

std::optional<int64_t> StepsOrAll(int64_t steps) {
  return steps > 0 ? std::optional<int64_t>(steps) : std::nullopt;
}

void PrintResult(const TrainAndEvaluateResult& result, const TrainFlags& flags,
                 const std::string& model_dir, std::ostream& out) {
  if (flags.json) {
    PrintDone(result, model_dir, out);
    return;
  }
  fmt::print(out, "{} is at step {}.\n", model_dir, result.global_step);
  PrintMetrics(result.metrics, out);
  for (const std::string& path : result.exports) fmt::print(out, "Exported to {}\n", path);
}

// Throws INVALID_ARGUMENT for a text that is no value of the parameter.
void CheckParamText(const models::ModelParam& param, const std::string& text) {
  const auto* const usual = std::get_if<std::string>(&param.value);
  if (text.empty() && (usual == nullptr || !usual->empty())) {
    throw InvalidArgument("--{} is empty; leave it out for its default", param.name);
  }
  HParams params;
  params.Set(param.name, param.value);
  SetParam(params, param.name, text);
  CheckLimits("--" + param.name, params.values().at(param.name), param.limits);
}

// Declares the parameters of the model as options; their texts are taken when it runs.
std::shared_ptr<std::map<std::string, std::string>> AddParams(const RegisteredModel& model,
                                                              Command& command) {
  auto texts = std::make_shared<std::map<std::string, std::string>>();
  for (const models::ModelParam& param : model.params) {
    HParams one;
    one.Set(param.name, param.value);
    std::string text = one.ToJson();  // {"name":value}
    text = text.substr(param.name.size() + 4, text.size() - param.name.size() - 5);
    command.AddOption("--" + param.name, &(*texts)[param.name],
                      fmt::format("{} (default {})", param.help, text),
                      [&param](const std::string& given) { CheckParamText(param, given); });
  }
  return texts;
}

std::vector<std::string> ExportFormats(const RegisteredModel& model) {
  std::vector<std::string> names;
  for (const auto& [name, receiver] : model.receivers) names.push_back(name);
  names.push_back("none");
  return names;
}

void AddTrainOptions(Command& command, TrainFlags* flags, const RegisteredModel& model) {
  command.AddOption(
      "--model_dir DIR", &flags->model_dir, "checkpoints, events and exports",
      [](const std::string& given) {
        if (!given.empty()) return;
        throw InvalidArgument("--model_dir is empty; leave it out for a temporary directory");
      });
  if (!model.data_set.empty()) {
    command.AddOption("--data,--data_dir DIR", &flags->data,
                      fmt::format("as made by `sextant data {}`; default: $SEXTANT_DATA/{}, else "
                                  "data/{}",
                                  model.data_set, model.data_set, model.data_set));
    command.AddOption("--train_files FILE", &flags->train_files, "instead of those of --data");
    command.AddOption("--eval_files FILE", &flags->eval_files, "instead of those of --data");
  }
  command.AddChoice("--schedule", &flags->schedule, {"train_and_evaluate", "train"},
                    "what is done (default train_and_evaluate)");
  command.AddChoice("--export_format", &flags->export_format, ExportFormats(model),
                    "the input of the exported model (default " + model.receivers[0].first + ")");
  command.AddChoice("--exporter", &flags->exporter, {"final", "latest", "best"},
                    "which models are exported (default final)");
  command.AddNameOption("--export_name", &flags->export_name,
                        "directory below model_dir/export (default " + ExportName(model, {}) + ")");
  command.AddOption("--warmup_requests", &flags->warmup_requests,
                    "rows of the evaluation that servers of the export run first", 0, 1000);
  command.AddNameOption("--eval_name", &flags->eval_name, "results go to model_dir/eval_NAME");
  command.AddOption("--throttle_secs", &flags->throttle_secs, "least time between evaluations", 0,
                    kMostSeconds);
  command.AddOption("--throttle_steps", &flags->throttle_steps, "least steps between evaluations",
                    0);
  command.AddOption("--warm_start_from PATH", &flags->warm_start_from,
                    "a checkpoint or model_dir to take first values from");
  command.AddOption("--seed", &flags->seed, "of everything random; -1: another every time", -1);
  command.AddOption("--threads", &flags->threads, "0: all cores", 0, 4096);
  command.AddOption("--num_devices", &flags->devices, "host devices that share each batch", 1, 256);
  command.AddChoice("--reduction", &flags->reduction, {"one_device", "tree", "ring"},
                    "how gradients are summed over devices (default tree)");
  command.AddChoice("--input_sharding", &flags->input_sharding, {"leases", "fixed", "none"},
                    "how the tasks of a cluster share out the data (default leases)");
  command.AddOption("--save_checkpoints_steps", &flags->save_checkpoints_steps, "0: by time", 0);
  command.AddOption("--save_checkpoints_secs", &flags->save_checkpoints_secs,
                    "0: as often as usual, every 600", 0, kMostSeconds);
  command.AddOption("--save_summary_steps", &flags->save_summary_steps, "0: none", 0);
  command.AddOption("--keep_checkpoint_max", &flags->keep_checkpoint_max, "0: all", 0, 1 << 30);
  command.AddOption("--log_step_count_steps", &flags->log_step_count_steps,
                    "between log lines and lines of --json", 1);
  command.AddChoice("--verbosity", &flags->verbosity, {"debug", "info", "warn", "error", "fatal"},
                    "least level of log lines");
  command.AddFlag("--sync", &flags->sync, "tasks of a cluster update in step with each other");
  command.AddOption("--replicas_to_aggregate", &flags->replicas_to_aggregate,
                    "with --sync: gradients to a step; 0: as many as tasks train", 0, 1 << 20);
  command.AddFlag("--deterministic", &flags->deterministic,
                  "with --sync: one gradient of each task, added in order");
  command.AddOption("--max_staleness", &flags->max_staleness,
                    "without --sync: updates that may come between the reads and the update of a "
                    "step; -1: any number",
                    -1, 1 << 30);
  command.AddChoice("--stale_updates", &flags->stale_updates, {"drop", "scale", "block"},
                    "what becomes of staler ones (default drop)");
  command.AddFlag("--json", &flags->json, "prints metrics as lines of JSON");
  command.AddOption("--serve PORT", &flags->serve,
                    "exports the latest models and answers REST requests to them, until Ctrl-C", 1,
                    65535);
  command.AddArgumentFiles();
  command.OutliveOutput();
}

// What no flag shows by itself. Throws INVALID_ARGUMENT.
void CheckTraining(const RegisteredModel& model, const HParams& params, const TrainFlags& flags) {
  models::CheckParams(model, params);
  model.model_fn(params);
  const dist::Task task = dist::TaskFromEnvironment();
  if (!task.local() && flags.model_dir.empty() && task.model_dir.empty()) {
    throw InvalidArgument("the tasks of a cluster share a folder: give --model_dir");
  }
  for (const char* batch : {"train_batch_size", "eval_batch_size"}) {
    models::BatchPerDevice(params, batch, {.devices = flags.devices});
  }
  if (flags.serve > 0 && (flags.export_format == "none" || flags.schedule == "train")) {
    throw InvalidArgument("--serve needs exports: no --export_format none, no --schedule train");
  }
  if (!flags.sync && (flags.replicas_to_aggregate > 0 || flags.deterministic)) {
    throw InvalidArgument("--replicas_to_aggregate and --deterministic are for --sync");
  }
  if (flags.sync && flags.max_staleness >= 0) {
    throw InvalidArgument("--max_staleness is for training without --sync");
  }
  if (flags.save_checkpoints_steps > 0 && flags.save_checkpoints_secs > 0) {
    throw InvalidArgument(
        "--save_checkpoints_steps and --save_checkpoints_secs exclude each other");
  }
}

void AddModelCommand(Command& train, const RegisteredModel& model,
                     const StartServing& start_serving) {
  const std::string make_data =
      model.data_set.empty() ? ""
                             : fmt::format("sextant data {0} --out data/{0}\n", model.data_set);
  Command& command =
      train.AddCommand(model.name, model.description,
                       fmt::format("{0}sextant train {1} --model_dir runs/{1} --train_steps 1000",
                                   make_data, model.name));
  command.OnOpen([&model, start_serving](Command& opened) {
    auto flags = std::make_shared<TrainFlags>();
    flags->start_serving = start_serving;
    AddTrainOptions(opened, flags.get(), model);
    const auto texts = AddParams(model, opened);
    const auto params = std::make_shared<HParams>(models::DefaultParams(model));
    opened.OnCheck([&model, flags, texts, params] {
      for (const auto& [name, text] : *texts) {
        if (!text.empty()) SetParam(*params, name, text);
      }
      CheckTraining(model, *params, *flags);
    });
    opened.OnRun([&model, flags, params] {
      // The program that has what speaks gRPC and HTTP.
      const bool needs_network = flags->serve > 0 || !dist::TaskFromEnvironment().local();
      if (needs_network && !flags->start_serving) ReplaceProcess("sextant-net", OwnArguments());
      TrainModel(model, *params, *flags, std::cout);
      return 0;
    });
  });
}

}  // namespace

void TrainModel(const RegisteredModel& model, const HParams& params, const TrainFlags& flags,
                std::ostream& out) {
  SetVerbosity(flags.verbosity, flags.json);
  CheckTraining(model, params, flags);
  const std::optional<int64_t> seed = SeedOf(flags);
  const models::ModelData data{.folder = flags.data,
                               .train_files = flags.train_files,
                               .eval_files = flags.eval_files,
                               .seed = seed,
                               .devices = flags.devices};
  const InterruptScope signals;
  RunConfig config = MakeConfig(flags, seed);
  config.cancellation = signals.token();
  Estimator estimator(model.model_fn(params), config, params,
                      {.checkpoint = flags.warm_start_from});
  const TrainedModel trained{&model, params, seed};
  const bool is_chief = estimator.config().task.is_chief;
  if (is_chief) CheckTrainedModel(estimator.model_dir(), trained);
  const auto server = flags.serve > 0 ? StartServer(model, flags, estimator.model_dir()) : nullptr;
  const auto steps = params.Get<int64_t>("train_steps");
  TrainSpec train{.input_fn = [&] { return model.train_input(params, data); },
                  .max_steps = steps,
                  .hooks = {TrainProgress({.last_step = steps,
                                           .batch_size = params.Get<int64_t>("train_batch_size"),
                                           .json = flags.json ? &out : nullptr,
                                           .json_steps = flags.log_step_count_steps})}};
  if (is_chief) train.hooks.push_back(NoteTrainedModel(estimator.model_dir(), trained));
  TrainAndEvaluateResult result;
  if (flags.schedule == "train") {
    result.global_step =
        estimator.Train(train.input_fn, {.max_steps = steps, .hooks = train.hooks});
  } else {
    EvalSpec eval{.input_fn = [&] { return model.eval_input(params, data); },
                  .steps = StepsOrAll(params.Get<int64_t>("eval_steps")),
                  .name = flags.eval_name,
                  .exporters = MakeExporters(model, params, flags),
                  .throttle_secs = flags.throttle_secs,
                  .throttle_steps = flags.throttle_steps};
    if (flags.json) eval.exporters.push_back(ReportEvaluations(out));
    result = TrainAndEvaluate(estimator, train, eval);
  }
  PrintResult(result, flags, estimator.model_dir(), out);
  if (server != nullptr) {
    LogInfo("training has ended; the model is served until Ctrl-C");
    while (!Interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void AddTrainCommand(Command& program, StartServing start_serving) {
  Command& train = program.AddCommand(
      "train", "Trains, evaluates and exports a model.",
      "sextant data census --out data/census\n"
      "sextant train wide_deep --model_dir runs/census --train_steps 1000 --train_batch_size 40\n"
      "sextant train mnist --flagfile mnist.flags --json");
  train.CallCommands("model");
  train.OnOpen([start_serving = std::move(start_serving)](Command& opened) {
    for (const RegisteredModel& model : models::RegisteredModels()) {
      AddModelCommand(opened, model, start_serving);
    }
  });
}

}  // namespace sextant::cli
