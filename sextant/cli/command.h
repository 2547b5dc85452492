// Command: one command of the program, with its options, as the source of the command declares it.
// The library that parses command lines stands behind it, in command.cc alone: it is slow to
// compile.
//
//   void AddGreetCommand(Command& program) {
//     auto options = std::make_shared<GreetOptions>();
//     Command& greet = program.AddCommand("greet", "Greets people.", "sextant greet Ada --loud");
//     greet.AddArgument("NAME", &options->name, "whom to greet");
//     greet.AddFlag("--loud", &options->loud, "with an exclamation mark");
//     greet.AddOption("--times N", &options->times, "how often", 1, 10);
//     greet.OnRun([options] { return Greet(*options, std::cout); });
//   }
//
// What the pointers point to must live until the program has run; its value before is the default.
// Long options may be given by any unambiguous prefix, and with - or _ inside (option_prefix.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sextant::cli {

enum class Need { kOptional, kRequired };

class Command {
 public:
  // The program itself.
  Command(std::string name, std::string description);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // A command below this one. --help shows the description and the example (several lines are
  // fine).
  Command& AddCommand(const std::string& name, const std::string& description,
                      const std::string& example);

  // `name` is "--name" or "-n,--name"; " VALUE" may follow, for the help text. Of an option that is
  // given twice the last value counts. An empty text is a usage error, unless AllowEmpty names the
  // option.
  void AddFlag(const std::string& name, bool* value, const std::string& help);
  void AddOption(const std::string& name, std::string* value, const std::string& help,
                 Need need = Need::kOptional);
  // A value that `check` throws an Error for is a usage error, as are all below that do not fit.
  // It is given empty ones too.
  using Check = std::function<void(const std::string& value)>;
  void AddOption(const std::string& name, std::string* value, const std::string& help, Check check);
  // In [least, most].
  void AddOption(const std::string& name, int64_t* value, const std::string& help,
                 int64_t least = INT64_MIN, int64_t most = INT64_MAX);
  // The same; finite.
  void AddOption(const std::string& name, double* value, const std::string& help, double least,
                 double most);
  // May be given several times.
  void AddOption(const std::string& name, std::vector<std::string>* values,
                 const std::string& help);
  // One of `choices`, which the help text lists.
  void AddChoice(const std::string& name, std::string* value, std::vector<std::string> choices,
                 const std::string& help);
  // The name of a directory below another one: no path.
  void AddNameOption(const std::string& name, std::string* value, const std::string& help);
  // Takes --flagfile and --config (argument_files.h).
  void AddArgumentFiles();

  // Arguments without a name, in this order; `name` is for the help text. Required ones have at
  // least one value.
  void AddArgument(const std::string& name, std::string* value, const std::string& help);
  void AddArgument(const std::string& name, std::vector<std::string>* values,
                   const std::string& help, Need need = Need::kRequired);

  // Options and arguments declared before, by name, whose value may be an empty text: one that says
  // something, or the same as none in the program that ours is compatible with.
  void AllowEmpty(const std::vector<std::string>& names);

  // What the commands below are called in messages, e.g. "model"; "command" without it.
  void CallCommands(std::string noun) { noun_ = std::move(noun); }

  // Declares options only when the command is the one that is run.
  void OnOpen(std::function<void(Command&)> open) { open_ = std::move(open); }
  // For commands that do more than print: they go on when nobody reads their output any more.
  void OutliveOutput() { outlives_output_ = true; }

  // A line below every usage error.
  void NoteOnUsage(std::string note) { usage_note_ = std::move(note); }

  // Called with the options filled in, before the work: an Error is a usage error.
  void OnCheck(std::function<void()> check) { check_ = std::move(check); }
  // Called with the options filled in; returns the exit code. May throw Error.
  void OnRun(std::function<int()> run);
  // Hands all arguments on as they are, --help among them: for commands of another program
  // (net_program.h).
  using Forward = std::function<int(const std::vector<std::string>& arguments)>;
  void OnForward(Forward forward) { forward_ = std::move(forward); }

 private:
  friend int RunProgram(Command& program, std::vector<std::string> arguments);
  struct Parser;  // knows the library

  Command& Find(std::vector<std::string>& arguments);
  [[noreturn]] void ThrowNoCommand(const std::string& given) const;
  // Fills in the options. False when the program is to end with *exit_code.
  bool Parse(std::vector<std::string> arguments, int* exit_code);
  std::string Help() const;
  int UsageError(const std::string& message) const;

  const std::string name_;  // with those of the commands above: "sextant data verify"
  const std::string description_;
  const std::unique_ptr<Parser> parser_;
  std::vector<std::unique_ptr<Command>> commands_;
  std::function<void(Command&)> open_;
  std::function<void()> check_;
  std::function<int()> run_;
  Forward forward_;
  std::string noun_ = "command";
  std::string usage_note_;
  bool argument_files_ = false;
  bool outlives_output_ = false;
};

constexpr int kExitError = 1;
constexpr int kExitUsage = 2;

// Parses the arguments (without the name of the program), runs the command and returns the exit
// code: the command's own, or kExitError after "sextant <command>: <message>" on stderr when it
// throws, kExitUsage for a command line that is not understood, 130 or 143 after SIGINT or SIGTERM.
// --help and --version print to stdout and return 0.
int RunProgram(Command& program, std::vector<std::string> arguments);

}  // namespace sextant::cli
