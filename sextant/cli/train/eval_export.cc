#include <fmt/ostream.h>

#include <iostream>
#include <memory>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/cli/train/metrics_table.h"
#include "sextant/cli/train/train_command.h"
#include "sextant/cli/train/train_progress.h"
#include "sextant/cli/train/trained_model.h"
#include "sextant/estimator/estimator.h"

namespace sextant::cli {
namespace {

Estimator Open(const TrainedModel& trained, const std::string& model_dir) {
  return Estimator(trained.model->model_fn(trained.params), {.model_dir = model_dir},
                   trained.params);
}

// Options that say which model is meant.
template <typename Flags>
void AddModelOptions(Command& command, Flags* flags) {
  command.AddOption("--model_dir DIR", &flags->model_dir, "where the model was trained",
                    Need::kRequired);
  command.AddOption("--model_name,--model NAME", &flags->model,
                    "which model it is, where `sextant train` did not make it");
  command.AddOption("--hparams", &flags->hparams, "parameters of it that differ: a=1,b=2");
  command.AllowEmpty({"--hparams"});  // none differ
  command.AddOption("--checkpoint PREFIX", &flags->checkpoint, "default: the newest");
}

}  // namespace

void EvalModel(const EvalFlags& flags, std::ostream& out) {
  const TrainedModel trained = ReadTrainedModel(flags.model_dir, flags.model, flags.hparams);
  const models::ModelData data{.folder = flags.data, .eval_files = flags.eval_files};
  const int64_t steps = flags.steps >= 0 ? flags.steps : trained.params.Get<int64_t>("eval_steps");
  EvaluateOptions options{.checkpoint_path = flags.checkpoint, .name = flags.name};
  if (steps > 0) options.steps = steps;
  const EvalResult metrics =
      Open(trained, flags.model_dir)
          .Evaluate([&] { return trained.model->eval_input(trained.params, data); }, options);
  if (flags.json) {
    PrintEvaluation(metrics, flags.name, out);
    return;
  }
  fmt::print(out, "{} at step {}:\n", flags.model_dir, metrics.at("global_step"));
  PrintMetrics(metrics, out);
}

void ExportModel(const ExportFlags& flags, std::ostream& out) {
  const TrainedModel trained = ReadTrainedModel(flags.model_dir, flags.model, flags.hparams);
  const std::string path =
      Open(trained, flags.model_dir)
          .ExportSavedModel(flags.out,
                            models::FindReceiver(*trained.model, trained.params, flags.receiver),
                            {.as_text = flags.as_text, .checkpoint_path = flags.checkpoint});
  fmt::print(out, "{}\n", path);
}

void AddEvalCommand(Command& program) {
  Command& command = program.AddCommand("eval", "Evaluates a trained model.",
                                        "sextant eval --model_dir runs/census --eval_steps 0");
  command.OnOpen([](Command& opened) {
    auto flags = std::make_shared<EvalFlags>();
    AddModelOptions(opened, flags.get());
    opened.AddOption("--data,--data_dir DIR", &flags->data, "default: that of the data set");
    opened.AddOption("--eval_files FILE", &flags->eval_files, "instead of those of --data");
    opened.AddOption("--eval_steps", &flags->steps,
                     "batches; 0: all the data; default: as in training", 0);
    opened.AddNameOption("--name", &flags->name, "results go to model_dir/eval_NAME");
    opened.AddFlag("--json", &flags->json, "prints a line of JSON");
    opened.AddArgumentFiles();
    opened.OnRun([flags] {
      SetLogLevel(LogLevel::kWarning);
      EvalModel(*flags, std::cout);
      return 0;
    });
  });
}

void AddExportCommand(Command& program) {
  Command& command = program.AddCommand(
      "export", "Exports a trained model as a SavedModel.",
      "sextant export --model_dir runs/census --out export/census --receiver csv\n"
      "Receivers: json, csv, example and raw for the census models, raw and example for images.");
  command.OnOpen([](Command& opened) {
    auto flags = std::make_shared<ExportFlags>();
    AddModelOptions(opened, flags.get());
    opened.AddOption("--out DIR", &flags->out, "a directory named by the time is made there",
                     Need::kRequired);
    opened.AddOption("--receiver", &flags->receiver,
                     "the input of the exported model; default: the first that it has");
    opened.AddFlag("--as_text", &flags->as_text, "saved_model.pbtxt instead of saved_model.pb");
    opened.AddArgumentFiles();
    opened.OnRun([flags] {
      SetLogLevel(LogLevel::kWarning);
      ExportModel(*flags, std::cout);
      return 0;
    });
  });
}

}  // namespace sextant::cli
