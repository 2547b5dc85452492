// What to say when a checkpoint cannot be read: whether it is damaged, and which others are not.
#pragma once

#include <optional>
#include <string>

namespace sextant {

// Whether every tensor of it can be read and has its checksum. Reads all of it.
bool IsWholeCheckpoint(const std::string& prefix);

// How to go on without it: names the other checkpoints of its directory's state file that are
// whole, newest first, and what to write there. For a message, in the form "…; do this".
std::string AdviceForDamagedCheckpoint(const std::string& prefix);

// The same for a directory whose state file cannot be read, or names no checkpoint; of the
// checkpoints BASENAME-NUMBER that are there. None when there are none.
std::optional<std::string> AdviceForDamagedState(const std::string& directory,
                                                 const std::string& basename = "model.ckpt");

// Sets the state file of a directory to its newest checkpoint that is whole, with a warning in the
// log for each newer one that is not. Where none is whole it is left as it is. A state file that is
// missing or does not parse is made anew, of the checkpoints BASENAME-NUMBER that are there. For
// trainings of clusters, whose chief nobody asks what to do; it reads the newest one.
void FallBackToWholeCheckpoint(const std::string& directory,
                               const std::string& basename = "model.ckpt");

}  // namespace sextant
