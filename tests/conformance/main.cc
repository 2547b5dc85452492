// sextant-conformance: runs vectors recorded from real TensorFlow and counts what agrees.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "tests/conformance/estimator_cases.h"
#include "tests/conformance/file_cases.h"
#include "tests/conformance/op_cases.h"
#include "tests/conformance/remote_cases.h"
#include "tests/conformance/saved_model_cases.h"
#include "tests/conformance/training_cases.h"
#include "tests/conformance/trajectory_cases.h"

namespace sextant::conformance {
namespace {

// The files of the paths: folders stand for the .tfrecord files in them.
std::vector<std::string> Expand(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    FileSystem& fs = FileSystem::ForPath(path);
    if (!fs.Stat(path).is_directory) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> names = fs.ListDirectory(path);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      if (name.ends_with(".tfrecord")) files.push_back(path + "/" + name);
    }
  }
  return files;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Compares Sextant with vectors recorded from TensorFlow.\n"
      "Example: sextant-conformance ops testdata/golden/ops");
  app.require_subcommand(1);
  std::vector<std::string> paths;
  std::string filter;
  CLI::App* files =
      app.add_subcommand("files", "files written by TensorFlow: records, events, checkpoints");
  files->add_option("directory", paths, "directories with an index.json, or the one above them")
      ->required();
  CLI::App* saved_models = app.add_subcommand("saved_model", "SavedModels and their answers");
  saved_models->add_option("directory", paths, "SavedModels, or directories of them")->required();
  saved_models->add_option("--filter", filter, "only models whose path contains this");
  CLI::App* trajectories =
      app.add_subcommand("trajectory", "trainings, by our own models and by TensorFlow's graph");
  trajectories
      ->add_option("directory", paths, "directories with a trajectory.json, or the one above")
      ->required();
  trajectories->add_option("--filter", filter, "only directories whose name contains this");
  std::string data;
  CLI::App* estimators =
      app.add_subcommand("estimator", "canned estimators: evaluation of checkpoints, training on");
  estimators->add_option("directory", paths, "directories with an estimator.json, or the one above")
      ->required();
  estimators->add_option("--data", data, "the folder of adult.data and adult.test");
  estimators->add_option("--filter", filter, "only directories whose name contains this");
  const auto add_command = [&](const char* name, const char* description) {
    CLI::App* command = app.add_subcommand(name, description);
    command->add_option("path", paths, "files, or folders of .tfrecord files")->required();
    command->add_option("--filter", filter, "only cases whose name contains this");
    return command;
  };
  CLI::App* ops =
      add_command("ops", "op vectors: forward, our gradients, TensorFlow's gradient graph");
  bool parallel_steps = false;
  ops->add_flag("--parallel_steps", parallel_steps,
                "run independent steps at the same time in every Plan, small ones too");
  bool remote = false;
  ops->add_flag("--remote", remote,
                "across two tasks of a cluster: the same bits as in one process");
  add_command("training", "optimizers, schedules, moving averages, clipping, streaming metrics");
  CLI11_PARSE(app, argc, argv);
  SetLogLevel(LogLevel::kWarning);

  Counts total;
  if (files->parsed()) {
    for (const std::string& path : paths) total += RunFileCases(path);
  } else if (saved_models->parsed()) {
    for (const std::string& path : paths) total += RunSavedModelCases(path, filter);
  } else if (trajectories->parsed()) {
    for (const std::string& path : paths) total += RunTrajectories(path, filter);
  } else if (estimators->parsed()) {
    for (const std::string& path : paths) total += RunEstimatorCases(path, data, filter);
  } else {
    SessionOptions options;
    if (parallel_steps) options.optimizer.parallel_steps = ParallelSteps::kAlways;
    for (const std::string& file : Expand(paths)) {
      total += !ops->parsed() ? RunTrainingCases(file, filter)
               : remote       ? RunRemoteOpCases(file, filter)
                              : RunOpCases(file, filter, options);
    }
  }
  fmt::print("{} passed, {} failed, {} skipped\n", total.passed, total.failed, total.skipped);
  return total.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sextant::conformance

int main(int argc, char** argv) {
  try {
    return sextant::conformance::Main(argc, argv);
  } catch (const std::exception& e) {  // an Error, or an index that is not as it should be
    fmt::print(stderr, "sextant-conformance: {}\n", e.what());
    return 2;
  }
}
