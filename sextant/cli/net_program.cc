#include "sextant/cli/net_program.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sextant/base/error.h"
#include "sextant/cli/net_commands.h"

namespace sextant::cli {

void ReplaceProcess(const std::string& program, const std::vector<std::string>& arguments) {
  const std::filesystem::path path =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
  std::vector<std::string> words = {path.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(path.c_str(), pointers.data());
  throw NotFound("{}, which runs this command, cannot be started: {}; install it there",
                 path.string(), std::strerror(errno));
}

void AddNetCommands(Command& program) {
  for (const NetCommand& entry : kNetCommands) {
    const std::string name = entry.name;
    program.AddCommand(name, entry.description, "")
        .OnForward([name](const std::vector<std::string>& arguments) -> int {
          std::vector<std::string> all = {name};
          all.insert(all.end(), arguments.begin(), arguments.end());
          ReplaceProcess("sextant-net", all);
        });
  }
}

}  // namespace sextant::cli
