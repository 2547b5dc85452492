#include "sextant/cli/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <set>
#include <utility>

#include "sextant/base/directory_name.h"
#include "sextant/base/error.h"
#include "sextant/base/exit_code.h"
#include "sextant/base/nearest_name.h"
#include "sextant/base/printable.h"
#include "sextant/cli/argument_files.h"
#include "sextant/cli/option_prefix.h"
#include "sextant/cli/option_value.h"
#include "sextant/cli/standard_output.h"

namespace sextant::cli {

namespace {

// One line. Unlike fmt::print, it does not mind that nobody reads it.
void PrintError(const std::string& message) {
  std::fputs((Printable(message) + "\n").c_str(), stderr);
}

}  // namespace

struct Command::Parser {
  Parser(const std::string& name, const std::string& description) : app(description, name) {}

  // Takes "--name VALUE" as Command::AddOption does; `take` gets each value, with the long name of
  // the flag.
  using Take = std::function<void(const std::string& flag, const std::string& text)>;
  CLI::Option* AddOption(const std::string& name, const std::string& help, const Take& take) {
    const size_t space = std::min(name.find(' '), name.size());
    const std::string names = name.substr(0, space);
    const size_t dashes = std::min(names.find("--"), names.size());
    const std::string flag = names.substr(dashes, names.find(',', dashes) - dashes);
    CLI::callback_t callback = [take, flag](const CLI::results_t& values) {
      for (const std::string& value : values) take(flag, value);
      return true;
    };
    return app.add_option(names, std::move(callback), help)
        ->type_name(space == name.size() ? "VALUE" : name.substr(space + 1))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }

  std::vector<std::string> LongOptions() const {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
  }

  // An empty text is most often a variable of a script that is not set.
  void RefuseEmpty() const {
    for (const CLI::Option* option : app.get_options()) {
      const std::vector<std::string> values = option->reduced_results();
      if (std::find(values.begin(), values.end(), "") == values.end()) continue;
      if (may_be_empty.contains(option)) continue;
      const bool is_flag = !option->get_lnames().empty();
      throw InvalidArgument("{} is empty; give it a value{}",
                            is_flag ? "--" + option->get_lnames()[0] : option->get_name(),
                            option->get_required() ? "" : " or leave it out");
    }
  }

  CLI::App app;
  std::set<const CLI::Option*> may_be_empty;
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
  parser_
      ->AddOption(name, help, [=](const std::string&, const std::string& text) { *value = text; })
      ->required(need == Need::kRequired);
}

void Command::AddOption(const std::string& name, std::string* value, const std::string& help,
                        Check check) {
  parser_->may_be_empty.insert(
      parser_->AddOption(name, help, [=](const std::string&, const std::string& text) {
        check(text);
        *value = text;
      }));
}

void Command::AddOption(const std::string& name, int64_t* value, const std::string& help,
                        int64_t least, int64_t most) {
  parser_->AddOption(name, help, [=](const std::string& flag, const std::string& text) {
    *value = IntegerOption(flag, text, least, most);
  });
}

void Command::AddOption(const std::string& name, double* value, const std::string& help,
                        double least, double most) {
  parser_->AddOption(name, help, [=](const std::string& flag, const std::string& text) {
    *value = NumberOption(flag, text, least, most);
  });
}

void Command::AddOption(const std::string& name, std::vector<std::string>* values,
                        const std::string& help) {
  parser_
      ->AddOption(name, help,
                  [=](const std::string&, const std::string& text) { values->push_back(text); })
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void Command::AddChoice(const std::string& name, std::string* value,
                        std::vector<std::string> choices, const std::string& help) {
  const std::string text = fmt::format("{}: {}", help, JoinWithOr(choices));
  parser_->AddOption(name, text, [=](const std::string& flag, const std::string& given) {
    *value = ChoiceOption(flag, given, choices);
  });
}

void Command::AddNameOption(const std::string& name, std::string* value, const std::string& help) {
  parser_->AddOption(name, help, [=](const std::string& flag, const std::string& text) {
    CheckDirectoryName(flag, text);
    *value = text;
  });
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

void Command::AllowEmpty(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    parser_->may_be_empty.insert(parser_->app.get_option(name));
  }
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
  size_t width = 30;
  for (const auto& command : commands_) width = std::max(width, command->name_.size());
  for (const auto& command : commands_) {
    help += fmt::format("  {:<{}}  {}\n", command->name_, width, command->description_);
  }
  return help;
}

int Command::UsageError(const std::string& message) const {
  const char* stop = message.ends_with('?') || message.ends_with('.') ? "" : ".";
  PrintError(fmt::format("{}: {}{} Try {} --help.", name_, message, stop, name_));
  if (!usage_note_.empty()) PrintError(usage_note_);
  return kExitUsage;
}

void Command::ThrowNoCommand(const std::string& given) const {
  if (given.empty() || given.starts_with('-')) {
    throw InvalidArgument("name a {}{}", noun_, given.empty() ? "" : " before " + given);
  }
  std::vector<std::string> names;
  for (const auto& command : commands_) names.push_back(command->name_.substr(name_.size() + 1));
  throw NotFound("there is no {} {}{}", noun_, given, DidYouMeanOneOf(given, names));
}

bool Command::Parse(std::vector<std::string> arguments, int* exit_code) {
  *exit_code = 0;
  try {
    if (argument_files_) ExpandArgumentFiles(arguments);
    const std::string first = arguments.empty() ? "" : arguments[0];
    const bool asks = first == "-h" || first == "--help" || first == "--version";
    if (!run_ && !asks) ThrowNoCommand(first);
    ExpandOptions(arguments, parser_->LongOptions());
    std::reverse(arguments.begin(), arguments.end());  // the library takes them from the back
    parser_->app.parse(std::move(arguments));
    if (!run_) ThrowNoCommand("");
    parser_->RefuseEmpty();
    if (check_) check_();
    return true;
  } catch (const CLI::CallForHelp&) {
    std::cout << Help();
  } catch (const CLI::CallForVersion& e) {
    std::cout << e.what() << "\n";
  } catch (const CLI::ExtrasError&) {
    std::vector<std::string> extras = parser_->app.remaining();
    std::erase(extras, "--");
    const std::string extra = extras.empty() ? "--" : extras[0];
    *exit_code = UsageError(extra.starts_with('-') ? "there is no flag " + extra
                                                   : "there is one argument too many: " + extra);
  } catch (const CLI::ConversionError& e) {  // of a flag: options are read by option_value.h
    *exit_code = UsageError(fmt::format("a flag is true or false ({})", e.what()));
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
  Command* found = &program;
  int exit_code = 0;
  try {
    found = &program.Find(arguments);
    const Command& command = *found;
    if (command.forward_) return command.forward_(arguments);
    StandardOutput output(command.outlives_output_ ? OnClosedPipe::kGoOn : OnClosedPipe::kEnd);
    if (found->Parse(std::move(arguments), &exit_code)) exit_code = command.run_();
    output.Finish();
  } catch (...) {
    const Status status = CurrentStatus();
    PrintError(fmt::format("{}: {}", found->name_, status.message()));
    exit_code = ExitCodeOf(status, kExitError);
  }
  return exit_code;
}

}  // namespace sextant::cli
