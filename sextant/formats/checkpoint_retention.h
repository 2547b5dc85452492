// CheckpointRetention: which checkpoints a training run keeps. Touches no files.
//
// After each save:  retention.Saved(prefix, now);
//                   WriteCheckpointState(directory, {prefix, retention.kept()});
//                   while (auto old = retention.NextToDelete()) DeleteCheckpoint(*old);
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

class SEXTANT_API CheckpointRetention {
 public:
  struct Options {  // how many are kept
    // Number of the newest that are kept; 0: nothing is ever deleted, and kept() is the newest
    // alone.
    int max_to_keep = 5;
    // Beside those, one per this number of hours is kept for good.
    double keep_every_n_hours = 10000;
  };
  struct Checkpoint {
    std::string prefix;  // of the checkpoints
    double time = 0;     // of saving, in seconds since the epoch
  };

  CheckpointRetention(const Options& options, double now);

  // Goes on where an earlier run stopped; oldest first.
  void Recover(std::vector<Checkpoint> existing);
  // Notes a save. A prefix that was saved before becomes the newest.
  void Saved(const std::string& prefix, double now);
  // This one stays beside the newest, for as long as none is better: the best before it loses that
  // right. "" for none.
  void SetBest(std::string prefix);
  // What the `checkpoint` file lists, oldest first.
  std::vector<std::string> kept() const;
  // Takes checkpoints that have become too many off the queue, oldest first, up to one that is to
  // be deleted; none when there is none.
  std::optional<std::string> NextToDelete();

 private:
  const Options options_;
  double next_keep_time_;
  std::deque<Checkpoint> kept_;
  std::deque<Checkpoint> queue_;
  std::string best_;
  std::optional<Checkpoint> held_;  // the best, when it is none of the newest
};

}  // namespace sextant

#pragma GCC visibility pop
