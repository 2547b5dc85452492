#include "sextant/cli/inspect/inspect_model_dir.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/json_writer.h"
#include "sextant/base/printable.h"
#include "sextant/cli/inspect/text_table.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/event_reader.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/proto/event.pb.h"

namespace sextant::cli {
namespace {

struct CheckpointEntry {
  std::string prefix;
  std::optional<int64_t> step;  // the variable global_step
  size_t variables = 0;
  bool latest = false;
  std::string problem;
};

struct EventFileEntry {
  std::string path;
  uint64_t size = 0;
  int64_t events = 0;
  int64_t last_step = 0;
  std::string problem;
};

struct ModelDir {
  std::vector<CheckpointEntry> checkpoints;
  std::vector<EventFileEntry> event_files;  // also those of folders below, such as eval/
  std::vector<std::string> saved_models;
};

CheckpointEntry ReadEntry(const std::string& prefix) {
  CheckpointEntry entry{.prefix = prefix};
  try {
    const TensorBundleReader reader(prefix);
    entry.variables = reader.Tensors().size();
    if (reader.Contains("global_step")) entry.step = reader.Read("global_step").AsInt64();
  } catch (const Error& e) {
    entry.problem = e.message();
  }
  return entry;
}

EventFileEntry ReadEventFile(const std::string& path) {
  EventFileEntry entry{.path = path, .size = FileSystem::ForPath(path).Stat(path).size};
  try {
    EventReader reader(path);
    for (proto::Event event; reader.Next(&event); ++entry.events) {
      entry.last_step = std::max<int64_t>(entry.last_step, event.step());
    }
  } catch (const Error& e) {
    entry.problem = e.message();
  }
  return entry;
}

// By the number at their end, as a run writes them.
int64_t StepInName(const std::string& prefix) {
  const size_t dash = prefix.rfind('-');
  return dash == std::string::npos ? -1 : std::strtoll(prefix.c_str() + dash + 1, nullptr, 10);
}

void Scan(const std::string& folder, int depth, ModelDir* result) {
  FileSystem& fs = FileSystem::ForPath(folder);
  for (const std::string& name : fs.ListDirectory(folder)) {
    const std::string path = JoinPath(folder, name);
    if (fs.Stat(path).is_directory) {
      if (IsSavedModelDir(path)) {
        result->saved_models.push_back(path);
      } else if (depth < 3) {
        Scan(path, depth + 1, result);
      }
    } else if (IsEventFileName(name)) {
      result->event_files.push_back(ReadEventFile(path));
    } else if (depth == 0 && name.ends_with(".index")) {
      result->checkpoints.push_back(ReadEntry(path.substr(0, path.size() - 6)));
    }
  }
}

ModelDir ReadModelDir(const std::string& folder) {
  ModelDir result;
  Scan(folder, 0, &result);
  std::stable_sort(result.checkpoints.begin(), result.checkpoints.end(),
                   [](const CheckpointEntry& a, const CheckpointEntry& b) {
                     return StepInName(a.prefix) < StepInName(b.prefix);
                   });
  if (const auto latest = LatestCheckpoint(folder)) {
    for (CheckpointEntry& entry : result.checkpoints) {
      entry.latest = BaseName(entry.prefix) == BaseName(*latest);
    }
  }
  return result;
}

std::optional<int64_t> GlobalStep(const ModelDir& dir) {
  for (const CheckpointEntry& entry : dir.checkpoints) {
    if (entry.latest) return entry.step;
  }
  return dir.checkpoints.empty() ? std::nullopt : dir.checkpoints.back().step;
}

void WriteJson(const std::string& folder, const ModelDir& dir, JsonWriter& json) {
  json.BeginObject();
  json.Field("kind", "model_dir");
  json.Field("path", folder);
  if (const auto step = GlobalStep(dir)) json.Field("global_step", *step);
  json.Key("checkpoints");
  json.BeginArray();
  for (const CheckpointEntry& entry : dir.checkpoints) {
    json.BeginObject();
    json.Field("prefix", entry.prefix);
    if (entry.step) json.Field("global_step", *entry.step);
    json.Field("num_variables", static_cast<uint64_t>(entry.variables));
    json.Field("latest", entry.latest);
    if (!entry.problem.empty()) json.Field("error", entry.problem);
    json.EndObject();
  }
  json.EndArray();
  json.Key("event_files");
  json.BeginArray();
  for (const EventFileEntry& entry : dir.event_files) {
    json.BeginObject();
    json.Field("path", entry.path);
    json.Field("bytes", entry.size);
    json.Field("num_events", entry.events);
    json.Field("last_step", entry.last_step);
    if (!entry.problem.empty()) json.Field("error", entry.problem);
    json.EndObject();
  }
  json.EndArray();
  json.Field("saved_models", dir.saved_models);
  json.EndObject();
}

}  // namespace

void InspectModelDir(const std::string& given, const InspectOptions& options, std::ostream& out) {
  const std::string folder = given.empty() ? "." : given;
  const ModelDir dir = ReadModelDir(folder);
  if (options.json) {
    JsonWriter json(out);
    WriteJson(folder, dir, json);
    return;
  }
  const auto step = GlobalStep(dir);
  out << fmt::format("{}: model folder with {} checkpoints, {} event files, {} SavedModels{}\n",
                     folder, dir.checkpoints.size(), dir.event_files.size(),
                     dir.saved_models.size(), step ? fmt::format(", global step {}", *step) : "");
  TextTable checkpoints({"checkpoint", "step", "variables", "", "problem"});
  for (const CheckpointEntry& entry : dir.checkpoints) {
    checkpoints.AddRow({entry.prefix, entry.step ? fmt::format("{}", *entry.step) : "-",
                        fmt::format("{}", entry.variables), entry.latest ? "latest" : "",
                        entry.problem});
  }
  checkpoints.Print(out);
  TextTable events({"event file", "bytes", "events", "last step", "problem"});
  for (const EventFileEntry& entry : dir.event_files) {
    events.AddRow({entry.path, fmt::format("{}", entry.size), fmt::format("{}", entry.events),
                   fmt::format("{}", entry.last_step), entry.problem});
  }
  events.Print(out);
  for (const std::string& model : dir.saved_models)
    out << "  SavedModel " << ShownName(model) << "\n";
}

}  // namespace sextant::cli
