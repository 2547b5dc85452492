#include "sextant/formats/damaged_checkpoint.h"

#include <fmt/ranges.h>

#include <map>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/base/parse_number.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/tensor_bundle_reader.h"

namespace sextant {

bool IsWholeCheckpoint(const std::string& prefix) try {
  const TensorBundleReader reader(prefix);
  for (const BundleTensorInfo& info : reader.Tensors()) reader.Read(info.name);
  return true;
} catch (const Error&) {
  return false;
}

namespace {

// The checkpoints of a directory whose state file is lost, oldest first; without a latest one.
CheckpointState StateOfFiles(const std::string& directory, const std::string& basename) {
  std::map<int64_t, std::string> prefixes;
  constexpr std::string_view kIndex = ".index";
  for (const std::string& name : FileSystem::ForPath(directory).ListDirectory(directory)) {
    if (!name.starts_with(basename + "-") || !name.ends_with(kIndex)) continue;
    const std::string prefix = name.substr(0, name.size() - kIndex.size());
    int64_t number = 0;
    if (ParseNumber(prefix.substr(basename.size() + 1), &number))
      prefixes[number] = JoinPath(directory, prefix);
  }
  CheckpointState state;
  for (const auto& [number, prefix] : prefixes) state.all.push_back(prefix);
  return state;
}

// Which of `all`, oldest first, are whole, and how to go on from the newest; without `damaged`.
std::string Advice(const std::string& directory, const std::vector<std::string>& all,
                   const std::string& damaged) {
  std::vector<std::string> whole;
  for (auto name = all.rbegin(); name != all.rend(); ++name) {
    if (*name != damaged && IsWholeCheckpoint(*name)) whole.emplace_back(BaseName(*name));
  }
  if (whole.empty()) {
    return fmt::format("no {}checkpoint of {} is whole: take another directory to begin anew",
                       damaged.empty() ? "" : "other ", directory);
  }
  return fmt::format(
      "{} of {} {} whole: to go on from {}, write the line model_checkpoint_path: \"{}\" into {}",
      fmt::join(whole, ", "), directory, whole.size() == 1 ? "is" : "are", whole[0], whole[0],
      JoinPath(directory, "checkpoint"));
}

}  // namespace

void FallBackToWholeCheckpoint(const std::string& directory, const std::string& basename) {
  if (!FileSystem::ForPath(directory).Exists(directory)) return;
  auto state = ReadCheckpointState(directory);
  if (!state) {
    state = StateOfFiles(directory, basename);
    if (!state->all.empty())
      LogWarning("{} has checkpoints, but no list of them in the file checkpoint", directory);
  }
  for (size_t left = state->all.size(); left > 0; --left) {
    const std::string& newest = state->all[left - 1];
    if (!IsWholeCheckpoint(newest)) continue;
    if (newest == state->latest) return;
    for (size_t i = left; i < state->all.size(); ++i) LogWarning("{} is damaged", state->all[i]);
    LogWarning("the training goes on from {}", newest);
    state->latest = newest;
    state->all.resize(left);
    if (state->timestamps.size() > left) state->timestamps.resize(left);
    WriteCheckpointState(directory, *state);
    return;
  }
}

std::string AdviceForDamagedCheckpoint(const std::string& prefix) {
  const std::string directory(DirectoryName(prefix));
  const auto state = ReadCheckpointState(directory);
  return Advice(directory, state ? state->all : std::vector<std::string>(), prefix);
}

std::optional<std::string> AdviceForDamagedState(const std::string& directory,
                                                 const std::string& basename) {
  const CheckpointState state = StateOfFiles(directory, basename);
  if (state.all.empty()) return std::nullopt;
  return Advice(directory, state.all, "");
}

}  // namespace sextant
