// What to say when a checkpoint cannot be read: whether it is damaged, and which others are not.
#pragma once

#include <string>

namespace sextant {

// Whether every tensor of it can be read and has its checksum. Reads all of it.
bool IsWholeCheckpoint(const std::string& prefix);

// How to go on without it: names the other checkpoints of its directory's state file that are
// whole, newest first, and what to write there. For a message, in the form "…; do this".
std::string AdviceForDamagedCheckpoint(const std::string& prefix);

}  // namespace sextant
