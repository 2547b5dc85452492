#include "sextant/cli/commands.h"

#include "sextant/cli/data/data_command.h"
#include "sextant/cli/devices.h"
#include "sextant/cli/inspect/inspect.h"
#include "sextant/cli/saved_model.h"

namespace sextant::cli {

void AddCommands(Command& program) {
  AddDataCommand(program);
  AddDevicesCommand(program);
  AddInspectCommand(program);
  AddSavedModelCommand(program);
}

}  // namespace sextant::cli
