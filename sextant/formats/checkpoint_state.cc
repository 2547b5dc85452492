#include "sextant/formats/checkpoint_state.h"

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/base/temporary_file.h"
#include "sextant/formats/message_text.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/proto/checkpoint_state.pb.h"

namespace sextant {
namespace {

bool IsRelative(std::string_view path) {
  return !path.starts_with('/') && PathScheme(path).empty();
}

// `path` as it is written into the state file of `directory`.
std::string NameInState(const std::string& directory, const std::string& path, bool relative) {
  if (!relative && !(IsRelative(directory) && IsRelative(path))) return path;
  const std::string inside = JoinPath(directory, "");
  return path.starts_with(inside) ? path.substr(inside.size()) : path;
}

CheckpointState Parse(std::string_view text, std::string_view what) {
  proto::CheckpointState proto;
  ParseMessageText(text, what, &proto);
  CheckpointState state;
  state.latest = proto.model_checkpoint_path();
  const auto& all = proto.all_model_checkpoint_paths();
  state.all.assign(all.begin(), all.end());
  if (state.all.empty() || state.all.back() != state.latest) state.all.push_back(state.latest);
  const auto& timestamps = proto.all_model_checkpoint_timestamps();
  state.timestamps.assign(timestamps.begin(), timestamps.end());
  if (proto.last_preserved_timestamp() != 0)
    state.last_preserved = proto.last_preserved_timestamp();
  return state;
}

}  // namespace

CheckpointState ParseCheckpointState(std::string_view text) {
  return Parse(text, "state of checkpoints");
}

std::string CheckpointStateText(const CheckpointState& state) {
  if (!state.timestamps.empty() && state.timestamps.size() != state.all.size()) {
    throw InvalidArgument("{} times for {} checkpoints", state.timestamps.size(), state.all.size());
  }
  proto::CheckpointState proto;
  proto.set_model_checkpoint_path(state.latest);
  for (const std::string& path : state.all) proto.add_all_model_checkpoint_paths(path);
  if (state.all.empty() || state.all.back() != state.latest) {
    proto.add_all_model_checkpoint_paths(state.latest);
  }
  for (const double time : state.timestamps) proto.add_all_model_checkpoint_timestamps(time);
  if (state.last_preserved) proto.set_last_preserved_timestamp(*state.last_preserved);
  return MessageText(proto);
}

std::optional<CheckpointState> ReadCheckpointState(const std::string& directory,
                                                   const std::string& filename) {
  const std::string path = JoinPath(directory, filename);
  FileSystem& files = FileSystem::ForPath(path);
  if (!files.Exists(path)) return std::nullopt;
  try {
    CheckpointState state = Parse(files.ReadFile(path), path);
    if (state.latest.empty()) return std::nullopt;
    state.latest = JoinPath(directory, state.latest);
    for (std::string& name : state.all) name = JoinPath(directory, name);
    return state;
  } catch (const Error& e) {  // a directory stays usable when this file is not
    LogWarning("{}; no checkpoints are taken from it", e.message());
    return std::nullopt;
  }
}

void WriteCheckpointState(const std::string& directory, const CheckpointState& state,
                          const WriteCheckpointStateOptions& options) {
  CheckpointState named = state;
  named.latest = NameInState(directory, state.latest, options.relative_paths);
  for (std::string& path : named.all) path = NameInState(directory, path, options.relative_paths);
  const std::string path = JoinPath(directory, options.filename);
  FileSystem& files = options.files ? *options.files : FileSystem::ForPath(path);
  files.WriteFileAtomically(path, CheckpointStateText(named));
  DeleteStaleTemporaries(files, std::string(DirectoryName(path)), BaseName(path));
}

std::optional<std::string> LatestCheckpoint(const std::string& directory,
                                            const std::string& filename) {
  const std::optional<CheckpointState> state = ReadCheckpointState(directory, filename);
  if (!state || !CheckpointExists(state->latest)) return std::nullopt;
  return state->latest;
}

bool CheckpointExists(const std::string& prefix) {
  FileSystem& files = FileSystem::ForPath(prefix);
  return files.Exists(BundleIndexPath(prefix)) ||
         (files.Exists(prefix) && !files.Stat(prefix).is_directory);
}

void DeleteCheckpoint(const std::string& prefix, FileSystem* given) {
  FileSystem& files = given ? *given : FileSystem::ForPath(prefix);
  const auto remove = [&](const std::string& path) {
    if (files.Exists(path)) files.Delete(path);
  };
  remove(BundleIndexPath(prefix));
  const std::string directory(DirectoryName(prefix));
  const std::string base = std::string(BaseName(prefix)) + ".data-";
  for (const std::string& name : files.ListDirectory(directory.empty() ? "." : directory)) {
    constexpr std::string_view kShards = "00000-of-00000";
    if (name.starts_with(base) && name.size() == base.size() + kShards.size()) {
      remove(JoinPath(directory, name));
    }
  }
  remove(prefix + ".meta");
}

}  // namespace sextant
