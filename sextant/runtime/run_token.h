// RunToken: what a Run of synchronous training contributes by, and what became of it.
#pragma once

#include "sextant/device/remote_task.h"

namespace sextant {

struct RunToken {
  StepToken token;
  bool contributed = false;  // the Run updates variables in step with others
  bool stale = false;        // a contribution came too late and was dropped
};

}  // namespace sextant
