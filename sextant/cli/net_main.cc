// The program `sextant-net` (net_program.h).
#include <csignal>

#include "sextant/base/interrupt.h"
#include "sextant/cli/cluster/server_command.h"
#include "sextant/cli/cluster/status_command.h"
#include "sextant/cli/command.h"
#include "sextant/cli/load_command.h"
#include "sextant/cli/serve_command.h"
#include "sextant/cli/train/train_command.h"
#include "sextant/dist/grpc_target.h"

int main(int argc, char** argv) {
  using namespace sextant::cli;
  sextant::InstallInterruptHandlers();
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` fails, and the error says where
  sextant::dist::RegisterGrpcTargets();  // they are part of this program
  Command program("sextant", "Servers and clients of sextant: run them as `sextant COMMAND`.");
  AddLoadCommand(program);
  AddServeCommand(program);
  AddServerCommand(program);
  AddStatusCommand(program);
  AddTrainCommand(program, ServeExports);
  return RunProgram(program, {argv + 1, argv + argc});
}
