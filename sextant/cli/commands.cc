#include "sextant/cli/commands.h"

#include "sextant/cli/data/data_command.h"
#include "sextant/cli/devices.h"

namespace sextant::cli {

void AddCommands(Command& program) {
  AddDataCommand(program);
  AddDevicesCommand(program);
}

}  // namespace sextant::cli
