#include "sextant/cli/saved_model_command.h"

#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/printable.h"
#include "sextant/cli/python_literal.h"
#include "sextant/cli/saved_model_show.h"
#include "sextant/cli/train/servable.h"
#include "sextant/formats/npy.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/proto/saved_model.pb.h"
#include "sextant/runtime/saved_model.h"

namespace sextant::cli {
namespace {

struct ShowOptions {
  std::string directory, tags, signature;
  bool all = false, list_ops = false;
};

struct ScanOptions {
  std::string directory, tags, denied_ops = "WriteFile,ReadFile,PrintV2";
};

void Show(const ShowOptions& options, std::ostream& out) {
  const proto::SavedModel model = ReadSavedModel(options.directory);
  if (options.all) {
    out << ShowAllText(model);
    return;
  }
  if (options.tags.empty()) {
    if (options.list_ops) out << "--list_ops must be paired with a tag-set or with --all.\n";
    out << TagSetsText(model);
    return;
  }
  const proto::MetaGraphDef& meta_graph =
      model.meta_graphs(FindMetaGraph(model, ParseTags(options.tags)));
  if (options.list_ops) out << OpsText(meta_graph);
  out << (options.signature.empty() ? SignatureKeysText(meta_graph)
                                    : SignatureText(meta_graph, options.signature));
}

void Scan(const ScanOptions& options, std::ostream& out) {
  const proto::SavedModel model = ReadSavedModel(options.directory);
  if (!options.tags.empty()) {
    out << ScanText(model.meta_graphs(FindMetaGraph(model, ParseTags(options.tags))),
                    options.denied_ops);
    return;
  }
  for (const auto& meta_graph : model.meta_graphs())
    out << ScanText(meta_graph, options.denied_ops);
}

void AddShow(Command& parent) {
  auto options = std::make_shared<ShowOptions>();
  Command& command = parent.AddCommand(
      "show", "Prints tags, signatures, inputs and outputs, ops and functions.",
      "sextant saved-model show --dir export/1 --all\n"
      "sextant saved-model show --dir export/1 --tag_set serve --signature_def serving_default");
  command.AddOption("--dir", &options->directory, "the SavedModel", Need::kRequired);
  command.AddFlag("--all", &options->all, "all there is");
  command.AddOption("--tag_set", &options->tags, "the graph with exactly these tags: A,B");
  command.AddOption("--signature_def", &options->signature, "the signature to describe");
  command.AddFlag("--list_ops", &options->list_ops, "the ops of the graph too");
  command.OnRun([options] {
    Show(*options, std::cout);
    return 0;
  });
}

void AddRun(Command& parent) {
  auto options = std::make_shared<SavedModelRunOptions>();
  Command& command = parent.AddCommand(
      "run", "Runs a signature and prints its outputs.",
      "sextant saved-model run --dir export/1 --tag_set serve --signature_def serving_default \\\n"
      "    --input_exprs 'image=np.zeros((1, 784))'\n"
      "VALUE is a number, a string, a nested list or np.zeros, ones, full, arange, array with\n"
      ".reshape and .astype, e.g. np.arange(6, dtype=np.float32).reshape(2, 3).");
  command.AddOption("--dir", &options->directory, "the SavedModel", Need::kRequired);
  command.AddOption("--tag_set", &options->tags, "the graph with exactly these tags: A,B",
                    Need::kRequired);
  command.AddOption("--signature_def", &options->signature, "the signature to run",
                    Need::kRequired);
  command.AddOption("--inputs", &options->inputs.files,
                    "KEY=FILE.npy;KEY=FILE.npz[NAME]: arrays from files");
  command.AddOption("--input_exprs", &options->inputs.expressions,
                    "KEY=VALUE;KEY=VALUE: arrays as Python writes them");
  command.AddOption("--input_examples", &options->inputs.examples,
                    "KEY=[{'FEATURE': [1, 2]}]: serialised Examples");
  // As for saved_model_cli, there are none of that kind then.
  command.AllowEmpty({"--inputs", "--input_exprs", "--input_examples"});
  command.AddOption("--outdir", &options->output_directory, "also writes each output to KEY.npy");
  command.OutliveOutput();
  command.AddFlag("--overwrite", &options->overwrite, "replaces output files that are there");
  command.OnRun([options] {
    RunSavedModel(*options, std::cout);
    return 0;
  });
}

void AddScan(Command& parent) {
  auto options = std::make_shared<ScanOptions>();
  Command& command = parent.AddCommand("scan", "Looks for ops that touch files or print.",
                                       "sextant saved-model scan --dir export/1");
  command.AddOption("--dir", &options->directory, "the SavedModel", Need::kRequired);
  command.AddOption("--tag_set", &options->tags, "only the graph with exactly these tags: A,B");
  command.AddOption("--op_denylist", &options->denied_ops, "the ops to look for: A,B");
  command.OnRun([options] {
    Scan(*options, std::cout);
    return 0;
  });
}

}  // namespace

void RunSavedModel(const SavedModelRunOptions& options, std::ostream& out) {
  if (options.inputs.files.empty() && options.inputs.expressions.empty() &&
      options.inputs.examples.empty()) {
    throw InvalidArgument("give at least one of --inputs, --input_exprs and --input_examples");
  }
  NamedTensors inputs = ReadInputs(options.inputs);
  const SavedModel model = SavedModel::Load(options.directory, ParseTags(options.tags));
  const Signature& signature = ChooseSignature(model, options.signature);
  for (auto& [key, value] : inputs) {
    const auto wanted = signature.inputs().find(key);
    if (wanted == signature.inputs().end()) continue;  // Run says so
    try {
      value = Converted(value, wanted->second.dtype);
    } catch (const Error& e) {
      throw e.WithPrefix(fmt::format("input '{}': ", key));
    }
  }
  FileSystem& files = FileSystem::ForPath(options.output_directory);
  for (const auto& [key, value] : signature.Run(inputs)) {
    fmt::print(out, "Result for output key {}:\n{}\n", ShownName(key), value.ToString());
    if (options.output_directory.empty()) continue;
    files.CreateDirectories(options.output_directory);
    std::string name = key + ".npy";
    std::replace(name.begin(), name.end(), '/', '_');
    const std::string path = JoinPath(options.output_directory, name);
    if (!options.overwrite && files.Exists(path)) {
      throw AlreadyExists("{} exists; add --overwrite to replace it", path);
    }
    WriteNpy(path, value);
    fmt::print(out, "Output {} is saved to {}\n", ShownName(key), path);
  }
}

void AddSavedModelCommand(Command& program) {
  Command& command =
      program.AddCommand("saved-model", "Describes and runs SavedModels, as saved_model_cli does.",
                         "sextant saved-model show --dir export/1 --all");
  AddShow(command);
  AddRun(command);
  AddScan(command);
}

}  // namespace sextant::cli
