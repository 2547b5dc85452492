// Flags: the command line of a program, in the manner of TensorFlow 1's tf.app.flags.
//
//   int64_t steps = 30;
//   bool sync = false;
//   Flags flags("Fits a line to noisy points.");
//   flags.Add("steps", &steps, "number of updates", {.min = 1});
//   flags.Add("sync", &sync, "update in step with the other workers");
//   return flags.Main(argc, argv, [&] { Train(steps, sync); });
//
// A value follows as --steps=40 or --steps 40. A bool is also true by --sync alone and false by
// --nosync. Dashes in names count as underscores. A list takes all values up to the next flag, and
// may be given several times. "--" ends the flags; what is not a flag is an argument, refused
// unless the program has AddArguments.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API FlagOptions {
  std::vector<std::string> aliases = {};                  // other names of the same flag
  bool required = false;                                  // there is no default
  double min = -std::numeric_limits<double>::infinity();  // of numbers, which are always finite
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};  // of texts; none: any
};

class SEXTANT_API Flags {
 public:
  using Target = std::variant<std::string*, int*, int64_t*, double*, bool*,
                              std::vector<std::string>*, std::optional<int64_t>*>;

  explicit Flags(std::string description) : description_(std::move(description)) {}

  // The value at the time of the call is the default; Parse replaces it.
  Flags& Add(std::string_view name, Target value, std::string_view help,
             const FlagOptions& options = {});
  // What is not a flag; `shown` is its name in the help, e.g. "MODE". Of the options, `required`
  // asks for at least one, `max` says how many there may be.
  Flags& AddArguments(std::string_view shown, std::vector<std::string>* values,
                      std::string_view help, const FlagOptions& options = {});

  // Sets the values. Throws INVALID_ARGUMENT, one sentence that names the flag, for what is not
  // known, has no value, or a value that does not fit; nothing is changed then.
  void Parse(const std::vector<std::string>& arguments);
  // "--name=VALUE  help (default: 30)", a line each.
  std::string Help(std::string_view program) const;
  // Whether Parse was given the flag.
  bool given(std::string_view name) const;

  // What main() returns: parses, calls `body` and turns what it throws into "PROGRAM: message" on
  // stderr and 1, or the code of the signal that an InterruptScope saw. --help and -h print the
  // help and give 0; wrong usage gives 2.
  int Main(int argc, const char* const* argv, const std::function<void()>& body);

 private:
  struct Flag {
    std::string name;
    Target target;
    std::string help;
    std::string default_text;
    FlagOptions options;
    bool given = false;
  };
  class Parser;
  Flag* Find(std::string_view name);
  [[noreturn]] void ThrowUnknown(std::string_view name) const;

  std::string description_;
  std::vector<Flag> flags_;
  std::string arguments_shown_, arguments_help_;
  FlagOptions arguments_options_;
  std::vector<std::string>* arguments_ = nullptr;
};

}  // namespace sextant

#pragma GCC visibility pop
