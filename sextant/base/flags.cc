#include "sextant/base/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <type_traits>

#include "sextant/base/error.h"
#include "sextant/base/exit_code.h"
#include "sextant/base/nearest_name.h"
#include "sextant/base/parse_number.h"
#include "sextant/base/printable.h"

namespace sextant {
namespace {

using Texts = std::vector<std::string>;
using Target = Flags::Target;

std::string WithUnderscores(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::optional<bool> AsBool(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const char* yes : {"true", "t", "yes", "y", "1"}) {
    if (small == yes) return true;
  }
  for (const char* no : {"false", "f", "no", "n", "0"}) {
    if (small == no) return false;
  }
  return std::nullopt;
}

std::string DefaultText(const Target& target) {
  struct Visitor {
    std::string operator()(const std::string* value) const { return *value; }
    std::string operator()(const int* value) const { return fmt::format("{}", *value); }
    std::string operator()(const int64_t* value) const { return fmt::format("{}", *value); }
    std::string operator()(const double* value) const { return fmt::format("{}", *value); }
    std::string operator()(const bool* value) const { return *value ? "True" : "False"; }
    std::string operator()(const Texts* value) const {
      return fmt::format("{}", fmt::join(*value, " "));
    }
    std::string operator()(const std::optional<int64_t>* value) const {
      return *value ? fmt::format("{}", **value) : "";
    }
  };
  return std::visit(Visitor(), target);
}

void CheckRange(std::string_view name, double value, const FlagOptions& options) {
  if (value >= options.min && value <= options.max && std::isfinite(value)) return;
  if (value < options.min) {
    throw InvalidArgument("--{} must be at least {}, not {}", name, options.min, value);
  }
  if (value > options.max) {
    throw InvalidArgument("--{} must be at most {}, not {}", name, options.max, value);
  }
  throw InvalidArgument("--{} must be {}, not {}", name,
                        std::isnan(value) ? "a number" : "a finite number", value);
}

void CheckChoice(std::string_view name, const std::string& text, const FlagOptions& options) {
  if (options.choices.empty() ||
      std::find(options.choices.begin(), options.choices.end(), text) != options.choices.end()) {
    return;
  }
  throw InvalidArgument("--{} must be {}, not '{}'", name, JoinWithOr(options.choices), text);
}

template <typename T>
T Number(std::string_view name, const std::string& text, const FlagOptions& options) {
  T value{};
  if (text.empty() || !ParseNumber(text, &value)) {
    throw InvalidArgument("--{} must be {}, not '{}'", name,
                          std::is_same_v<T, double> ? "a number" : "an integer", text);
  }
  CheckRange(name, static_cast<double>(value), options);
  return value;
}

}  // namespace

Flags& Flags::Add(std::string_view name, Target value, std::string_view help,
                  const FlagOptions& options) {
  flags_.push_back({.name = std::string(name),
                    .target = value,
                    .help = std::string(help),
                    .default_text = DefaultText(value),
                    .options = options});
  return *this;
}

Flags& Flags::AddArguments(std::string_view shown, std::vector<std::string>* values,
                           std::string_view help, const FlagOptions& options) {
  arguments_shown_ = shown;
  arguments_help_ = help;
  arguments_options_ = options;
  arguments_ = values;
  return *this;
}

Flags::Flag* Flags::Find(std::string_view name) {
  const std::string wanted = WithUnderscores(name);
  for (Flag& flag : flags_) {
    if (WithUnderscores(flag.name) == wanted) return &flag;
    for (const std::string& alias : flag.options.aliases) {
      if (WithUnderscores(alias) == wanted) return &flag;
    }
  }
  return nullptr;
}

void Flags::ThrowUnknown(std::string_view name) const {
  Texts names;
  for (const Flag& flag : flags_) names.push_back("--" + flag.name);
  const std::string given = fmt::format("--{}", name);
  const std::string nearest = DidYouMean(given, names);
  throw InvalidArgument("there is no flag {}{}", given,
                        nearest.empty() ? "; --help lists them" : nearest);
}

// Collects what to set, and sets it when all is right.
class Flags::Parser {
 public:
  Parser(Flags& flags, const Texts& arguments) : flags_(flags), arguments_(arguments) {}

  void Run() {
    while (next_ < arguments_.size()) {
      const std::string& text = arguments_[next_++];
      if (text == "--") {
        while (next_ < arguments_.size()) AddArgument(arguments_[next_++]);
      } else if (IsFlag(text)) {
        TakeFlag(std::string_view(text).substr(text.starts_with("--") ? 2 : 1));
      } else {
        AddArgument(text);
      }
    }
    for (const Flag& flag : flags_.flags_) {
      if (flag.options.required && std::find(seen_.begin(), seen_.end(), &flag) == seen_.end()) {
        throw InvalidArgument("--{} is required", flag.name);
      }
    }
    if (flags_.arguments_options_.required && extra_.empty()) {
      const Texts& choices = flags_.arguments_options_.choices;
      throw InvalidArgument("{} is required{}", flags_.arguments_shown_,
                            choices.empty() ? "" : ": " + JoinWithOr(choices));
    }
    for (Flag& flag : flags_.flags_) flag.given = false;
    for (Flag* flag : seen_) flag->given = true;
    for (const auto& assign : assignments_) assign();
    if (flags_.arguments_ != nullptr && !extra_.empty()) *flags_.arguments_ = extra_;
  }

 private:
  // "-5" is a value.
  static bool IsFlag(std::string_view text) {
    return text.size() > 1 && text[0] == '-' &&
           (text[1] == '-' || !((text[1] >= '0' && text[1] <= '9') || text[1] == '.'));
  }

  void AddArgument(const std::string& text) {
    if (flags_.arguments_ == nullptr) {
      throw InvalidArgument("unexpected argument '{}'; flags begin with --", text);
    }
    const FlagOptions& options = flags_.arguments_options_;
    if (!options.choices.empty() && std::ranges::count(options.choices, text) == 0) {
      throw InvalidArgument("{} must be {}, not '{}'", flags_.arguments_shown_,
                            JoinWithOr(options.choices), text);
    }
    if (static_cast<double>(extra_.size()) >= options.max) {
      throw InvalidArgument("unexpected argument '{}'; there is {} already", text,
                            flags_.arguments_shown_);
    }
    extra_.push_back(text);
  }

  void TakeFlag(std::string_view text) {
    const size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string_view::npos) value = text.substr(equals + 1);
    Flag* flag = flags_.Find(name);
    if (flag == nullptr && !value && name.starts_with("no")) {
      const std::string_view positive = name.substr(name.starts_with("no-") ? 3 : 2);
      flag = flags_.Find(positive);
      if (flag != nullptr && !std::holds_alternative<bool*>(flag->target)) flag = nullptr;
      if (flag != nullptr) value = "false";
    }
    if (flag == nullptr) flags_.ThrowUnknown(name);
    seen_.push_back(flag);
    if (std::holds_alternative<bool*>(flag->target)) {
      if (!value) {
        const bool follows = next_ < arguments_.size() && AsBool(arguments_[next_]);
        value = follows ? arguments_[next_++] : "true";
      }
    } else if (auto* const list = std::get_if<Texts*>(&flag->target)) {
      return TakeList(*flag, *list, value);
    } else if (!value) {
      if (next_ >= arguments_.size() || IsFlag(arguments_[next_])) {
        throw InvalidArgument("--{} needs a value", flag->name);
      }
      value = arguments_[next_++];
    }
    Set(*flag, *value);
  }

  void TakeList(Flag& flag, Texts* list, const std::optional<std::string>& value) {
    Texts values;
    if (value) values.push_back(*value);
    while (!value && next_ < arguments_.size() && !IsFlag(arguments_[next_])) {
      values.push_back(arguments_[next_++]);
    }
    if (values.empty()) throw InvalidArgument("--{} needs a value", flag.name);
    for (const std::string& text : values) CheckChoice(flag.name, text, flag.options);
    const bool first = std::count(seen_.begin(), seen_.end(), &flag) == 1;
    assignments_.push_back([list, values, first] {
      if (first) list->clear();
      list->insert(list->end(), values.begin(), values.end());
    });
  }

  void Set(const Flag& flag, const std::string& text) {
    const FlagOptions& options = flag.options;
    const auto assign = [&](auto* target, auto value) {
      assignments_.push_back([target, value] { *target = value; });
    };
    if (auto* const string = std::get_if<std::string*>(&flag.target)) {
      CheckChoice(flag.name, text, options);
      assign(*string, text);
    } else if (auto* const integer = std::get_if<int*>(&flag.target)) {
      assign(*integer, Number<int32_t>(flag.name, text, options));
    } else if (auto* const large = std::get_if<int64_t*>(&flag.target)) {
      assign(*large, Number<int64_t>(flag.name, text, options));
    } else if (auto* const real = std::get_if<double*>(&flag.target)) {
      assign(*real, Number<double>(flag.name, text, options));
    } else if (auto* const maybe = std::get_if<std::optional<int64_t>*>(&flag.target)) {
      assign(*maybe, Number<int64_t>(flag.name, text, options));
    } else if (auto* const boolean = std::get_if<bool*>(&flag.target)) {
      const std::optional<bool> value = AsBool(text);
      if (!value) throw InvalidArgument("--{} must be True or False, not '{}'", flag.name, text);
      assign(*boolean, *value);
    }
  }

  Flags& flags_;
  const Texts& arguments_;
  size_t next_ = 0;
  std::vector<Flag*> seen_;
  std::vector<std::function<void()>> assignments_;
  Texts extra_;
};

void Flags::Parse(const std::vector<std::string>& arguments) { Parser(*this, arguments).Run(); }

bool Flags::given(std::string_view name) const {
  const Flag* const flag = const_cast<Flags*>(this)->Find(name);
  if (flag == nullptr) throw InvalidArgument("the program has no flag --{}", name);
  return flag->given;
}

std::string Flags::Help(std::string_view program) const {
  std::string text = fmt::format("{}\n\nusage: {} [flags]{}\n", description_, program,
                                 arguments_ == nullptr ? "" : " " + arguments_shown_);
  if (arguments_ != nullptr) text += fmt::format("  {}: {}\n", arguments_shown_, arguments_help_);
  text += '\n';
  for (const Flag& flag : flags_) {
    std::string names = "--" + flag.name;
    for (const std::string& alias : flag.options.aliases) names += ", --" + alias;
    std::string notes = flag.options.required       ? "required"
                        : flag.default_text.empty() ? "default: none"
                                                    : fmt::format("default: {}", flag.default_text);
    if (!flag.options.choices.empty()) {
      notes = fmt::format("{}; {}", JoinWithOr(flag.options.choices), notes);
    }
    text += fmt::format("  {}\n      {} ({})\n", names, flag.help, notes);
  }
  return text + "  --help, -h\n      print this text\n";
}

int Flags::Main(int argc, const char* const* argv, const std::function<void()>& body) {
  const std::string path = argc > 0 ? argv[0] : "program";
  const std::string program = path.substr(path.rfind('/') + 1);
  const Texts arguments(argv + std::min(argc, 1), argv + argc);
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument != "--help" && argument != "-h") continue;
    std::fputs(Help(program).c_str(), stdout);
    return 0;
  }
  try {
    Parse(arguments);
  } catch (const Error& e) {
    fmt::print(stderr, "{}: {}\n", program, Printable(e.message()));
    return 2;
  }
  try {
    body();
    if (std::fflush(stdout) != 0) throw DataLoss("standard output cannot be written");
    return 0;
  } catch (...) {
    const Status status = CurrentStatus();
    fmt::print(stderr, "{}: {}\n", program, Printable(status.message()));
    return ExitCodeOf(status, 1);
  }
}

}  // namespace sextant
