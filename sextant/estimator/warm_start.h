// WarmStart: begins a training with values of another one's checkpoint.
#pragma once

#include <map>
#include <string>

#include "sextant/graph/graph.h"

namespace sextant {

class Session;

struct WarmStart {
  std::string checkpoint = {};  // a prefix, or a directory: its newest; "": no warm start
  // The trainable variables whose names this regular expression finds.
  std::string variables = ".*";
  // Names in this model → names in the checkpoint, where they differ.
  std::map<std::string, std::string> names = {};
};

// Sets the variables of the session's graph, unless warm_start.checkpoint is empty. Throws
// NOT_FOUND for a variable that the checkpoint lacks, INVALID_ARGUMENT for one of another shape or
// when no variable matches.
void ApplyWarmStart(const WarmStart& warm_start, Session& session);

}  // namespace sextant
