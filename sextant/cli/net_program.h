// The second program, `sextant-net`: the commands that speak gRPC or HTTP. It is installed beside
// `sextant`, which starts it in its own place for these commands, so that no other command loads
// the libraries they need. Users never type its name.
//
// A new command of it has a line in net_commands.h, where `sextant --help` finds it, and one in
// net_main.cc.
#pragma once

#include <string>
#include <vector>

#include "sextant/cli/command.h"

namespace sextant::cli {

// To `sextant`: every command of net_commands.h, handed on to `sextant-net`.
void AddNetCommands(Command& program);

// Runs `program`, a file in the directory of this process's own, in place of this process. Returns
// only by throwing: NOT_FOUND where there is no such program.
[[noreturn]] void ReplaceProcess(const std::string& program,
                                 const std::vector<std::string>& arguments);

}  // namespace sextant::cli
