// The program `sextant`.
#include <csignal>

#include "sextant/base/interrupt.h"
#include "sextant/cli/command.h"
#include "sextant/cli/commands.h"

int main(int argc, char** argv) {
  using namespace sextant::cli;
  sextant::InstallInterruptHandlers();
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` fails, and the error says where
  Command program("sextant", "Data, models and devices on the command line.");
  AddCommands(program);
  return RunProgram(program, {argv + 1, argv + argc});
}
