// `sextant status`: what a task of a cluster is doing.
#pragma once

#include "sextant/cli/command.h"

namespace sextant::cli {

void AddStatusCommand(Command& program);

}  // namespace sextant::cli
