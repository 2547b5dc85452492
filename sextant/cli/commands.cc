#include "sextant/cli/commands.h"

#include "sextant/cli/cluster/launch_command.h"
#include "sextant/cli/data/data_command.h"
#include "sextant/cli/devices.h"
#include "sextant/cli/inspect/inspect.h"
#include "sextant/cli/net_program.h"
#include "sextant/cli/saved_model_command.h"
#include "sextant/cli/train/predict.h"
#include "sextant/cli/train/train_command.h"

namespace sextant::cli {

void AddCommands(Command& program) {
  AddDataCommand(program);
  AddDevicesCommand(program);
  AddEvalCommand(program);
  AddExportCommand(program);
  AddInspectCommand(program);
  AddLaunchCommand(program);
  AddNetCommands(program);
  AddPredictCommand(program);
  AddSavedModelCommand(program);
  AddTrainCommand(program);
}

}  // namespace sextant::cli
