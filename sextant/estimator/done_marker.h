// The file DONE in a model_dir: a training in a cluster has ended, its last checkpoint is in place.
// The chief writes it last. A role that starts after that, because a platform restarts what has
// ended, leaves at once; an evaluator makes its last evaluation and leaves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sextant {

struct DoneMarker {
  int64_t step = 0;                       // of the last checkpoint
  std::optional<int64_t> max_steps = {};  // that the training was asked for
  std::string reason = {};                // why it ended, e.g. "max_steps are reached"
};

// Replaces one that is there.
void WriteDoneMarker(const std::string& model_dir, const DoneMarker& marker);
// None when there is no such file. Throws DATA_LOSS, naming it, when it is no marker.
std::optional<DoneMarker> ReadDoneMarker(const std::string& model_dir);
// The training goes on: its chief removes the marker before the first step.
void RemoveDoneMarker(const std::string& model_dir);

// Whether the training that a role with these max_steps belongs to has ended: there is a marker,
// and it is not that of a training with fewer max_steps, which this one continues.
bool IsDone(const std::string& model_dir, std::optional<int64_t> max_steps);

}  // namespace sextant
