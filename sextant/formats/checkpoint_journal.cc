#include "sextant/formats/checkpoint_journal.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/formats/checkpoint_state.h"

namespace sextant {
namespace {

// Whole lines: the last one may be cut off.
std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    if (end > 0) lines.emplace_back(text.substr(0, end));
  }
  return lines;
}

// Parts that a sharded save has not merged yet (train/saver_graph.cc).
void DeleteParts(FileSystem& files, const std::string& directory, const std::string& name) {
  for (const std::string& entry : files.ListDirectory(directory.empty() ? "." : directory)) {
    if (entry.starts_with(name + "_temp_")) files.DeleteRecursively(JoinPath(directory, entry));
  }
}

}  // namespace

CheckpointJournal::CheckpointJournal(std::string directory, std::string state_filename)
    : directory_(std::move(directory)),
      state_filename_(std::move(state_filename)),
      path_(JoinPath(directory_, state_filename_ + ".journal")) {}

void CheckpointJournal::Note(const std::vector<std::string>& prefixes) const {
  std::string text;
  for (const std::string& prefix : prefixes) text.append(BaseName(prefix)) += '\n';
  const auto writer = FileSystem::ForPath(path_).NewWriter(path_);
  writer->Append(text);
  writer->Close();
}

void CheckpointJournal::Clear() const {
  FileSystem& files = FileSystem::ForPath(path_);
  if (files.Exists(path_)) files.Delete(path_);
}

void CheckpointJournal::CleanUp() const {
  FileSystem& files = FileSystem::ForPath(path_);
  if (!files.Exists(path_)) return;
  const auto state = ReadCheckpointState(directory_, state_filename_);
  for (const std::string& name : Lines(files.ReadFile(path_))) {
    const std::string prefix = JoinPath(directory_, name);
    DeleteParts(files, directory_, name);
    if (state && std::find(state->all.begin(), state->all.end(), prefix) != state->all.end()) {
      continue;
    }
    LogInfo("Deleting {}, which a process that was killed left.", prefix);
    DeleteCheckpoint(prefix);
  }
  Clear();
}

}  // namespace sextant
