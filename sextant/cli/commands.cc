#include "sextant/cli/commands.h"

#include "sextant/cli/devices.h"

namespace sextant::cli {

void AddCommands(Command& program) { AddDevicesCommand(program); }

}  // namespace sextant::cli
