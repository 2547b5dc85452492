// `sextant load`: requests at a given rate, and how a server answers them.
#pragma once

#include "sextant/cli/command.h"

namespace sextant::cli {

void AddLoadCommand(Command& program);

}  // namespace sextant::cli
