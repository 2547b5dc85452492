// WarmStart: begins a training with values of another one's checkpoint.
#pragma once

#include <map>
#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/graph.h"

#pragma GCC visibility push(default)

namespace sextant {

class Session;

struct SEXTANT_API WarmStart {
  // A prefix, a directory (its newest) or a SavedModel; "": no warm start.
  std::string checkpoint = {};
  // The trainable variables whose names begin like this regular expression.
  std::string variables = ".*";
  // Names in this model → names in the checkpoint, where they differ.
  std::map<std::string, std::string> names = {};
};

// Sets the variables of the session's graph, unless warm_start.checkpoint is empty. Throws
// NOT_FOUND when there is no checkpoint or it lacks a variable, INVALID_ARGUMENT for one of another
// shape or type or when no variable matches.
void ApplyWarmStart(const WarmStart& warm_start, Session& session);

}  // namespace sextant

#pragma GCC visibility pop
