// CheckpointJournal: the checkpoints of a directory that a saver is writing or deleting at the
// moment. When it is killed, the next one deletes those that the state file does not list: halves,
// and whole ones that nobody would ever delete. Others it must not touch, because some are kept for
// good without being listed.
#pragma once

#include <string>
#include <vector>

namespace sextant {

class CheckpointJournal {
 public:
  // Beside the state file: directory/checkpoint.journal.
  CheckpointJournal(std::string directory, std::string state_filename = "checkpoint");

  // These are being written or deleted, and no others. Not synced: what a killed process leaves is
  // meant, not a loss of power.
  void Note(const std::vector<std::string>& prefixes) const;
  // All of them are done.
  void Clear() const;
  // Deletes what a killed saver left half done. REQUIRES: no other saver is at work.
  void CleanUp() const;

 private:
  const std::string directory_, state_filename_, path_;
};

}  // namespace sextant
