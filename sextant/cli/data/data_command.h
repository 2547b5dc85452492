// `sextant data`: makes data sets, and checks them.
#pragma once

#include "sextant/cli/command.h"

namespace sextant::cli {

void AddDataCommand(Command& program);

}  // namespace sextant::cli
