// Checkpoints: every tensor, the files they consist of, the `checkpoint` state and the .meta files.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/message_text.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/proto/meta_graph.pb.h"
#include "tests/conformance/file_cases.h"
#include "tests/conformance/json_values.h"

namespace sextant::conformance {
namespace {

using nlohmann::json;

// The expected tensors and no others, each with its dtype, shape and elements.
void CompareTensors(const std::string& prefix, const json& tensors, Counts& counts) {
  std::unique_ptr<TensorBundleReader> reader;
  Try(prefix, "names", "list", counts, [&]() -> std::string {
    reader = std::make_unique<TensorBundleReader>(prefix);
    const std::vector<BundleTensorInfo> found = reader->Tensors();
    for (const BundleTensorInfo& info : found) {
      if (!tensors.contains(info.name)) return fmt::format("'{}' is not expected", info.name);
    }
    if (found.size() == tensors.size()) return "";
    return fmt::format("{} tensors, expected {}", found.size(), tensors.size());
  });
  if (reader == nullptr) return;
  for (const auto& [name, entry] : tensors.items()) {
    Try(prefix, name, "read", counts,
        [&, &name = name, &entry = entry] { return Difference(reader->Read(name), entry); });
  }
}

void CompareFiles(const std::string& prefix, const json& names, Counts& counts) {
  Try(prefix, "files", "list", counts, [&]() -> std::string {
    const std::string directory(DirectoryName(prefix));
    std::vector<std::string> found;
    for (std::string& name : FileSystem::ForPath(prefix).ListDirectory(directory)) {
      if (name.starts_with(std::string(BaseName(prefix)) + ".")) found.push_back(std::move(name));
    }
    return json(found) == names ? ""
                                : fmt::format("{}, expected {}", json(found).dump(), names.dump());
  });
}

void CheckMetaGraph(const std::string& path, Counts& counts) {
  Try(path, "meta graph", "parse", counts, [&]() -> std::string {
    proto::MetaGraphDef meta;
    ParseMessage(FileSystem::ForPath(path).ReadFile(path), path, &meta);
    if (meta.graph_def().node_size() == 0) return "no nodes";
    if (meta.meta_info_def().tensorflow_version().empty()) return "no version of TensorFlow";
    if (meta.saver_def().restore_op_name().empty()) return "no saver";
    return "";
  });
}

// The state file of a directory lists these checkpoints, oldest first.
void CompareState(const std::string& directory, std::vector<std::string> prefixes, Counts& counts) {
  Try(directory, "checkpoint", "state", counts, [&]() -> std::string {
    FileSystem& files = FileSystem::ForPath(directory);
    const std::optional<CheckpointState> state = ReadCheckpointState(directory);
    if (!state) return "no state";
    const auto time_of = [&](const std::string& prefix) {
      return std::pair(prefix.size(), prefix);  // ...-9 is older than ...-10
    };
    std::sort(prefixes.begin(), prefixes.end(),
              [&](const auto& a, const auto& b) { return time_of(a) < time_of(b); });
    if (state->all != prefixes) {
      return fmt::format("{}, expected {}", json(state->all).dump(), json(prefixes).dump());
    }
    if (state->latest != prefixes.back()) return "the latest is " + state->latest;
    if (LatestCheckpoint(directory) != state->latest) return "the latest is not there";
    // Times are printed with more digits by Python.
    const std::string text = files.ReadFile(JoinPath(directory, "checkpoint"));
    const CheckpointState own = ParseCheckpointState(text);
    if (own.timestamps.empty() && CheckpointStateText(own) != text) return "other text than ours";
    return "";
  });
}

Counts CompareObjectCheckpoint(const std::string& directory, const json& index) {
  Counts counts;
  const std::optional<std::string> prefix = LatestCheckpoint(directory);
  if (!prefix) throw NotFound("{}: no checkpoint there", directory);
  CompareTensors(*prefix, index.at("tensors"), counts);
  CompareState(directory, {*prefix}, counts);
  return counts;
}

}  // namespace

Counts RunCheckpointFiles(const std::string& directory) {
  FileSystem& files = FileSystem::ForPath(directory);
  const json index = ReadJson(JoinPath(directory, "index.json"));
  if (index.contains("tensors")) return CompareObjectCheckpoint(directory, index);
  Counts counts;
  std::map<std::string, std::vector<std::string>> by_directory;
  for (const auto& [name, entry] : index.items()) {
    const std::string prefix = JoinPath(directory, name);
    by_directory[std::string(DirectoryName(prefix))].push_back(prefix);
    CompareTensors(prefix, entry.at("tensors"), counts);
    CompareFiles(prefix, entry.at("files"), counts);
    if (files.Exists(prefix + ".meta")) CheckMetaGraph(prefix + ".meta", counts);
  }
  for (const auto& [below, prefixes] : by_directory) {
    if (files.Exists(JoinPath(below, "checkpoint"))) CompareState(below, prefixes, counts);
  }
  for (const std::string& name : files.ListDirectory(directory)) {
    const std::string below = JoinPath(directory, name);
    if (files.Stat(below).is_directory && files.Exists(JoinPath(below, "index.json"))) {
      counts += RunCheckpointFiles(below);
    }
  }
  return counts;
}

}  // namespace sextant::conformance
