#include "boilerplate/utils/run_directory.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "training_files/training_files.h"

namespace sx = sextant;

namespace boilerplate {
namespace {

constexpr const char* kCheckpoints = "checkpoints";
constexpr const char* kParameters = "run_parameters.json";
constexpr const char* kFinished = "run_finished";
constexpr const char* kEvaluated = "run_evaluated";

sx::HParams AsParams(const RunParameters& parameters) {
  sx::HParams all;
  for (const auto& [name, value] : parameters) all.Set(name, value);
  return all;
}

// A directory goes on with a training of its own model and data set only.
void CheckOwner(const std::string& directory, const sx::HParams& wanted) {
  const std::string noted = sx::JoinPath(directory, kParameters);
  sx::FileSystem& files = sx::FileSystem::ForPath(noted);
  if (!files.Exists(noted)) return;
  sx::HParams there = wanted;
  there.ParseJson(files.ReadFile(noted));
  for (const char* name : {"model", "dataset"}) {
    if (there.Get<std::string>(name) == wanted.Get<std::string>(name)) continue;
    throw sx::FailedPrecondition(
        "{} holds a training of {} on {}; choose another --model_dir, or delete it with --clean",
        directory, there.Get<std::string>("model"), there.Get<std::string>("dataset"));
  }
}

// Newest first.
std::vector<std::string> RunDirectories() {
  sx::FileSystem& files = sx::FileSystem::ForPath(kCheckpoints);
  std::vector<std::string> found;
  if (!files.Exists(kCheckpoints)) return found;
  for (const std::string& name : files.ListDirectory(kCheckpoints)) {
    found.push_back(sx::JoinPath(kCheckpoints, name));
  }
  std::ranges::sort(found, std::greater());
  return found;
}

bool IsUnfinished(const std::string& directory, const std::string& parameters) {
  sx::FileSystem& files = sx::FileSystem::ForPath(directory);
  const std::string noted = sx::JoinPath(directory, kParameters);
  return files.Exists(noted) && files.ReadFile(noted) == parameters &&
         !files.Exists(sx::JoinPath(directory, kFinished));
}

std::string NewDirectory() {
  const std::string name = fmt::format("{:%Y-%m-%d-%H_%M_%S}", fmt::localtime(std::time(nullptr)));
  std::string path = sx::JoinPath(kCheckpoints, name);
  for (int i = 1; sx::FileSystem::ForPath(path).Exists(path); ++i) {
    path = fmt::format("{}/{}_{}", kCheckpoints, name, i);
  }
  return path;
}

// What a run writes besides checkpoints and events: its own notes, those of the library, records
// and timelines of hooks, evaluations and exports.
const programs::FilePatterns kOfRuns = {kParameters,
                                        kFinished,
                                        kEvaluated,
                                        "graph.pbtxt",
                                        "DONE",
                                        "sextant_lock.json",
                                        "sextant_restarts.json",
                                        "sextant_ledger*.json",
                                        "benchmark_run.log",
                                        "metric.log",
                                        "timeline-#.json",
                                        "eval*/events.out.tfevents.*",
                                        "export*/",
                                        "export*/#/saved_model.pb",
                                        "export*/#/variables/variables.*",
                                        "export*/#/assets*/*",
                                        "export*/temp-#*"};

// Only what runs wrote is deleted.
void Clean(const std::string& directory) {
  programs::FilePatterns patterns = programs::CheckpointsAndEvents();
  patterns.insert(patterns.end(), kOfRuns.begin(), kOfRuns.end());
  const std::string foreign = programs::FirstForeignFile(directory, patterns);
  if (!foreign.empty()) {
    throw sx::FailedPrecondition(
        "{} holds '{}', which no run makes, and --clean would delete it; move it, or choose "
        "another --model_dir",
        directory, foreign);
  }
  sx::FileSystem& files = sx::FileSystem::ForPath(directory);
  if (files.Exists(directory)) files.DeleteRecursively(directory);
}

}  // namespace

std::string OpenRunDirectory(const AllFlags& flags, const RunParameters& parameters) {
  const sx::HParams all = AsParams(parameters);
  const std::string json = all.ToJson() + "\n";
  std::string directory = flags.model_dir;
  if (!directory.empty()) {
    if (flags.clean) Clean(directory);
    CheckOwner(directory, all);
  } else {
    const std::vector<std::string> runs = RunDirectories();
    const auto unfinished =
        std::ranges::find_if(runs, [&](const std::string& run) { return IsUnfinished(run, json); });
    directory = flags.clean || unfinished == runs.end() ? NewDirectory() : *unfinished;
  }
  sx::FileSystem& files = sx::FileSystem::ForPath(directory);
  files.CreateDirectories(directory);
  files.WriteFileAtomically(sx::JoinPath(directory, kParameters), json);
  return directory;
}

void MarkFinished(const std::string& model_dir) {
  const std::string path = sx::JoinPath(model_dir, kFinished);
  sx::FileSystem::ForPath(path).WriteFileAtomically(path, "");
}

int64_t LastEvaluation(const std::string& model_dir) {
  const std::string path = sx::JoinPath(model_dir, kEvaluated);
  sx::FileSystem& files = sx::FileSystem::ForPath(path);
  return files.Exists(path) ? std::strtoll(files.ReadFile(path).c_str(), nullptr, 10) : 0;
}

void NoteEvaluation(const std::string& model_dir, int64_t step) {
  const std::string path = sx::JoinPath(model_dir, kEvaluated);
  sx::FileSystem::ForPath(path).WriteFileAtomically(path, fmt::format("{}\n", step));
}

std::string FindRunDirectory(const AllFlags& flags) {
  if (!flags.model_dir.empty()) return flags.model_dir;
  const std::vector<std::string> runs = RunDirectories();
  if (runs.empty())
    throw sx::NotFound("there is no training in {}/; give --model_dir", kCheckpoints);
  return runs[0];
}

}  // namespace boilerplate
