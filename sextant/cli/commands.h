// The list of the program's commands: a new one is a line in commands.cc.
#pragma once

#include "sextant/cli/command.h"

namespace sextant::cli {

void AddCommands(Command& program);

}  // namespace sextant::cli
