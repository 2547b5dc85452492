// `sextant server`: a task of a cluster, which runs parts of graphs for others.
#pragma once

#include "sextant/cli/command.h"

namespace sextant::cli {

void AddServerCommand(Command& program);

}  // namespace sextant::cli
