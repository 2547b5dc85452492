// The `checkpoint` file of a directory, which lists the checkpoints in it: CheckpointState. It is
// text, so that people can point a program at another checkpoint.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

class FileSystem;

struct SEXTANT_API CheckpointState {
  std::string latest;                    // model_checkpoint_path
  std::vector<std::string> all;          // oldest first; the last is `latest`
  std::vector<double> timestamps;        // seconds since the epoch, one for each of `all`, or none
  std::optional<double> last_preserved;  // seconds since the epoch
};

// Names as they are in the text. Throws INVALID_ARGUMENT with line and column when it does not
// parse.
CheckpointState ParseCheckpointState(std::string_view text);
// `latest` is added to the end of all_model_checkpoint_paths unless it is there.
std::string CheckpointStateText(const CheckpointState& state);

// The state in directory/filename with names joined to the directory. None when there is no such
// file, when it does not parse (a warning goes to the log) or names no checkpoint, as in
// TensorFlow.
std::optional<CheckpointState> ReadCheckpointState(const std::string& directory,
                                                   const std::string& filename = "checkpoint");

struct SEXTANT_API WriteCheckpointStateOptions {
  std::string filename = "checkpoint";
  // Names inside the directory are written relative to it, so that the directory can be moved.
  // Else they are so only when directory and name are both relative.
  bool relative_paths = true;
  FileSystem* files = nullptr;  // null: that of the directory's scheme
};
// Replaces the file atomically.
void WriteCheckpointState(const std::string& directory, const CheckpointState& state,
                          const WriteCheckpointStateOptions& options = {});

// The prefix of the newest checkpoint that the state file of a directory names, if that is there.
std::optional<std::string> LatestCheckpoint(const std::string& directory,
                                            const std::string& filename = "checkpoint");

// Whether PREFIX.index, or a V1 checkpoint PREFIX, is there.
bool CheckpointExists(const std::string& prefix);
// Deletes the files of a checkpoint (.index first, so that no half of one is taken for whole, then
// data and .meta); missing ones are fine.
void DeleteCheckpoint(const std::string& prefix, FileSystem* files = nullptr);

}  // namespace sextant

#pragma GCC visibility pop
