// `sextant launch`: a cluster of processes on this machine (local_cluster.h).
#pragma once

#include "sextant/cli/command.h"

namespace sextant::cli {

void AddLaunchCommand(Command& program);

}  // namespace sextant::cli
