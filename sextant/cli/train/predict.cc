#include "sextant/cli/train/predict.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

#include "sextant/base/atomic_writer.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/base/logging.h"
#include "sextant/base/progress.h"
#include "sextant/base/temporary_file.h"
#include "sextant/cli/interruptible.h"
#include "sextant/cli/standard_output.h"
#include "sextant/cli/train/instances.h"
#include "sextant/cli/train/prediction_writer.h"
#include "sextant/cli/train/servable.h"

namespace sextant::cli {
namespace {

class Predictor {
 public:
  explicit Predictor(const PredictFlags& flags)
      : flags_(flags),
        output_(PredictionFormatByName(flags.output)),
        progress_("predict", static_cast<int64_t>(flags.files.size()), "files") {}

  // Predicts the instances of one file.
  void Run(const std::string& path, const std::function<void(std::string_view)>& sink) {
    const InstanceFormat format =
        flags_.format.empty() ? FormatOfFile(path) : InstanceFormatByName(flags_.format);
    Open(format);
    const Signature& signature = ChooseSignature(*model_, flags_.signature);
    const auto reader = OpenInstances(path, signature, OptionsOf(format));
    PredictionWriter writer(output_, flags_.keys, sink);
    NamedTensors inputs;
    int64_t in_file = 0;
    while (const int64_t count = reader->Next(&inputs)) {
      ThrowIfInterrupted();
      NamedTensors outputs;
      try {
        outputs = signature.Run(inputs);
      } catch (const Error& error) {
        const bool may_have_labels = format == InstanceFormat::kCsv && !flags_.with_label &&
                                     error.code() == Code::kInvalidArgument;
        throw Error(
            error.code(),
            fmt::format(
                "{}, instances {} to {}: {}{}", path, in_file + 1, in_file + count, error.message(),
                may_have_labels
                    ? "; if the rows end with labels, predict from the model_dir, with --with_label"
                    : ""));
      }
      writer.Write(outputs, count);
      in_file += count;
      instances_ += count;
      progress_.Show([&] {
        return fmt::format("file {} of {}, {} instances", files_ + 1, flags_.files.size(),
                           instances_);
      });
    }
    if (in_file == 0) throw InvalidArgument("{} holds no instances", path);
    ++files_;
  }
  int64_t files() const { return files_; }
  int64_t instances() const { return instances_; }

 private:
  InstanceOptions OptionsOf(InstanceFormat format) const {
    InstanceOptions options{.format = format,
                            .batch = flags_.batch,
                            .header = flags_.header,
                            .columns = flags_.columns};
    for (const std::string& text : flags_.defaults) AddDefault(text, &options);
    return options;
  }

  // A model_dir is opened anew for files of another format.
  void Open(InstanceFormat format) {
    if (model_ && format == format_) return;
    model_ = OpenServable({.path = flags_.model,
                           .format = format,
                           .with_label = flags_.with_label,
                           .model = flags_.model_name,
                           .hparams = flags_.hparams});
    format_ = format;
  }

  const PredictFlags& flags_;
  const PredictionFormat output_;
  Progress progress_;
  std::optional<SavedModel> model_;
  InstanceFormat format_ = InstanceFormat::kCsv;
  int64_t files_ = 0, instances_ = 0;
};

std::string OutputPath(const PredictFlags& flags, const std::string& path) {
  const char* ending = flags.output == "table" ? "txt" : flags.output.c_str();
  return JoinPath(flags.out, fmt::format("{}.predictions.{}", BaseName(path), ending));
}

// Makes a file that is given with its format one of `files`. Throws INVALID_ARGUMENT when there is
// none, or more than one way to read it.
void TakeInstanceFile(PredictFlags& flags) {
  const bool json = !flags.json_instances.empty(), text = !flags.text_instances.empty();
  if (int{json} + int{text} + int{!flags.files.empty()} != 1) {
    throw InvalidArgument("give one of FILE, --json_instances and --text_instances");
  }
  if (!json && !text) return;
  if (!flags.format.empty()) {
    throw InvalidArgument("--format is for FILE; --json_instances and --text_instances say it");
  }
  flags.format = json ? "json" : "csv";
  flags.files = {json ? flags.json_instances : flags.text_instances};
}

void CheckOutputs(const PredictFlags& flags) {
  std::set<std::string> paths;
  for (const std::string& path : flags.files) {
    if (!paths.insert(OutputPath(flags, path)).second) {
      throw InvalidArgument("two files are called {}; predict them to different folders",
                            BaseName(path));
    }
  }
}

void PredictToFolder(const PredictFlags& flags, Predictor& predictor, std::ostream& out) {
  CheckOutputs(flags);
  FileSystem& files = FileSystem::ForPath(flags.out);
  files.CreateDirectories(flags.out);
  DeleteStaleTemporaries(files, flags.out, "");  // of runs that were killed
  int64_t finished = 0;
  for (const std::string& path : flags.files) {
    const std::string output = OutputPath(flags, path);
    if (files.Exists(output)) {
      ++finished;
      continue;
    }
    const auto writer = NewAtomicWriter(files, output);
    predictor.Run(path, [&](std::string_view text) { writer->Append(text); });
    writer->Close();
  }
  fmt::print(out, "Predicted {} instances of {} files to {}", predictor.instances(),
             predictor.files(), flags.out);
  if (finished > 0) fmt::print(out, "; {} were finished before", finished);
  fmt::print(out, ".\n");
}

}  // namespace

void Predict(PredictFlags flags, std::ostream& out) {
  std::replace(flags.files.begin(), flags.files.end(), std::string("-"), std::string("/dev/stdin"));
  const Interruptible interruptible;
  Predictor predictor(flags);
  if (!flags.out.empty()) return PredictToFolder(flags, predictor, out);
  for (const std::string& path : flags.files) {
    predictor.Run(path, [&](std::string_view text) { out << text; });
  }
}

void AddPredictCommand(Command& program) {
  Command& command = program.AddCommand(
      "predict", "Runs a trained model on the rows of files.",
      "sextant predict --model runs/census people.csv\n"
      "sextant predict --model runs/census/export/census person.json --output json\n"
      "sextant predict --model-dir runs/census/export/census --json-instances test.json\n"
      "sextant predict --model export/census part-*.tfrecords --out predictions --output csv\n"
      "Run again, the last one goes on with the files that are missing.");
  command.OnOpen([](Command& opened) {
    auto flags = std::make_shared<PredictFlags>();
    opened.AddArgument(
        "FILE", &flags->files,
        "rows of CSV, lines of JSON, or records of Examples; - reads the standard input",
        Need::kOptional);
    opened.AddOption("--json_instances FILE", &flags->json_instances,
                     "lines of JSON, instead of FILE; - reads the standard input");
    opened.AddOption("--text_instances FILE", &flags->text_instances,
                     "lines of text that the model takes as they are, instead of FILE");
    opened.AddOption("--model,--model_dir DIR", &flags->model,
                     "a SavedModel, a directory of them (the newest), or a model_dir",
                     Need::kRequired);
    opened.AddChoice("--format", &flags->format, {"csv", "json", "example", "examples"},
                     "of the files; default: by their names and content");
    opened.AddChoice("--output", &flags->output, {"table", "json", "csv"},
                     "how predictions are written (default table)");
    opened.AddOption("--out DIR", &flags->out,
                     "a directory for one file of predictions per input file");
    opened.AddOption("--keys KEY", &flags->keys, "the outputs wanted; default: all");
    opened.AddOption("--signature_def", &flags->signature, "default: predict, or serving_default");
    opened.AddOption("--batch", &flags->batch, "instances at once", 1, 1 << 20);
    opened.AddFlag("--header", &flags->header, "the first line of CSV names the columns");
    opened.AddOption("--columns NAME", &flags->columns, "names of the columns of CSV, in order");
    opened.AddOption("--default COLUMN=VALUE", &flags->defaults,
                     "what an empty field of CSV, or a key missing in JSON, stands for");
    opened.AddFlag("--with_label", &flags->with_label,
                   "rows of CSV end with the label, as in training");
    opened.AddOption("--model_name", &flags->model_name,
                     "which model a model_dir holds, where `sextant train` did not make it");
    opened.AddOption("--hparams", &flags->hparams, "parameters of it that differ: a=1,b=2");
    // A column without a name is passed over; no parameters differ.
    opened.AllowEmpty({"--columns", "--hparams"});
    opened.AddArgumentFiles();
    opened.OnCheck([flags] { TakeInstanceFile(*flags); });
    opened.OnRun([flags] {
      SetLogLevel(LogLevel::kWarning);
      if (flags->output == "csv") PassBytesThrough();
      Predict(*flags, std::cout);
      return 0;
    });
  });
}

}  // namespace sextant::cli
