// The program `sextant`.
#include "sextant/cli/command.h"
#include "sextant/cli/commands.h"
#include "sextant/cli/interrupt.h"

int main(int argc, char** argv) {
  using namespace sextant::cli;
  InstallInterruptHandler();
  Command program("sextant", "Data, devices and models on the command line.");
  AddCommands(program);
  return RunProgram(program, {argv + 1, argv + argc});
}
