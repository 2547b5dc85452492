#include "sextant/cli/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/base/interrupt.h"
#include "sextant/cli/argument_files.h"
#include "sextant/cli/option_prefix.h"

namespace sextant::cli {

struct Command::Parser {
  Parser(const std::string& name, const std::string& description) : app(description, name) {}

  // Takes "--name VALUE" as AddOption does.
  template <typename T>
  CLI::Option* AddOption(const std::string& name, T* value, const std::string& help) {
    const size_t space = std::min(name.find(' '), name.size());
    return app.add_option(name.substr(0, space), *value, help)
        ->type_name(space == name.size() ? "VALUE" : name.substr(space + 1));
  }

  std::vector<std::string> LongOptions() const {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
  }

  CLI::App app;
};

Command::Command(std::string name, std::string description)
    : name_(std::move(name)),
      description_(std::move(description)),
      parser_(std::make_unique<Parser>(name_, description_)) {
  parser_->app.set_help_flag("-h,--help", "print this help and exit");
}

Command::~Command() = default;

Command& Command::AddCommand(const std::string& name, const std::string& description,
                             const std::string& example) {
  commands_.push_back(std::make_unique<Command>(name_ + " " + name, description));
  std::string footer = "\nExample:";
  for (size_t begin = 0; begin < example.size();) {
    const size_t end = std::min(example.find('\n', begin), example.size());
    footer += "\n  " + example.substr(begin, end - begin);
    begin = end + 1;
  }
  commands_.back()->parser_->app.footer(footer);
  return *commands_.back();
}

void Command::AddFlag(const std::string& name, bool* value, const std::string& help) {
  parser_->app.add_flag(name, *value, help);
}

void Command::AddOption(const std::string& name, std::string* value, const std::string& help,
                        Need need) {
  parser_->AddOption(name, value, help)
      ->required(need == Need::kRequired)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void Command::AddOption(const std::string& name, int64_t* value, const std::string& help,
                        int64_t least, int64_t most) {
  parser_->AddOption(name, value, help)
      ->check([=](const std::string& text) {
        const int64_t number = std::strtoll(text.c_str(), nullptr, 10);
        if (number < least) return fmt::format("{} is less than {}", text, least);
        if (number > most) return fmt::format("{} is more than {}", text, most);
        return std::string();
      })
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void Command::AddOption(const std::string& name, double* value, const std::string& help) {
  parser_->AddOption(name, value, help)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void Command::AddOption(const std::string& name, std::vector<std::string>* values,
                        const std::string& help) {
  parser_->AddOption(name, values, help)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void Command::AddArgument(const std::string& name, std::string* value, const std::string& help) {
  parser_->app.add_option(name, *value, help)->type_name("")->required();
}

void Command::AddArgument(const std::string& name, std::vector<std::string>* values,
                          const std::string& help, Need need) {
  parser_->app.add_option(name, *values, help)->type_name("")->required(need == Need::kRequired);
}

void Command::AddArgumentFiles() {
  argument_files_ = true;
  parser_->app.add_option("--flagfile", "flags, one a line")->type_name("FILE");
  parser_->app.add_option("--config", "flags as a JSON object")->type_name("FILE");
}

void Command::OnRun(std::function<int()> run) { run_ = std::move(run); }

Command& Command::Find(std::vector<std::string>& arguments) {
  if (open_) std::exchange(open_, nullptr)(*this);
  if (arguments.empty()) return *this;
  for (const auto& command : commands_) {
    if (command->name_ == name_ + " " + arguments[0]) {
      arguments.erase(arguments.begin());
      return command->Find(arguments);
    }
  }
  return *this;
}

std::string Command::Help() const {
  std::string help = parser_->app.help();
  if (commands_.empty()) return help;
  help += "\nCommands:\n";
  for (const auto& command : commands_) {
    help += fmt::format("  {:<32}{}\n", command->name_, command->description_);
  }
  return help;
}

int Command::UsageError(const std::string& message) const {
  fmt::print(stderr, "{}: {}. Try {} --help.\n", name_, message, name_);
  return kExitUsage;
}

bool Command::Parse(std::vector<std::string> arguments, int* exit_code) {
  *exit_code = 0;
  try {
    if (argument_files_) ExpandArgumentFiles(arguments);
    ExpandOptions(arguments, parser_->LongOptions());
    if (!run_ && (arguments.empty() || !arguments[0].starts_with("-"))) {
      throw InvalidArgument(
          "{}", arguments.empty() ? "name a command" : "there is no command " + arguments[0]);
    }
    std::reverse(arguments.begin(), arguments.end());  // the library takes them from the back
    parser_->app.parse(std::move(arguments));
    if (run_) return true;
    *exit_code = UsageError("name a command");
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", Help());
  } catch (const CLI::CallForVersion& e) {
    fmt::print("{}\n", e.what());
  } catch (const CLI::ParseError& e) {
    *exit_code = UsageError(e.what());
  } catch (const Error& e) {
    *exit_code = UsageError(e.message());
  }
  return false;
}

int RunProgram(Command& program, std::vector<std::string> arguments) {
  program.parser_->app.set_version_flag("--version", program.name_ + " " SEXTANT_VERSION,
                                        "print the version and exit");
  Command& command = program.Find(arguments);
  int exit_code = 0;
  try {
    if (command.Parse(std::move(arguments), &exit_code)) exit_code = command.run_();
  } catch (...) {
    const Status status = CurrentStatus();
    fmt::print(stderr, "{}: {}\n", command.name_, status.message());
    exit_code = Interrupted() ? ExitCodeOfSignal(InterruptSignal()) : kExitError;
  }
  std::fflush(stdout);
  return exit_code;
}

}  // namespace sextant::cli
