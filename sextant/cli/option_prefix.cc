#include "sextant/cli/option_prefix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/nearest_name.h"

namespace sextant::cli {
namespace {

std::string Normalized(std::string_view name) {
  std::string result(name);
  std::replace(result.begin() + 2, result.end(), '-', '_');
  return result;
}

}  // namespace

std::string ExpandOption(std::string_view given, const std::vector<std::string>& names) {
  const std::string wanted = Normalized(given);
  std::vector<std::string> matches;
  for (const std::string& name : names) {
    const std::string candidate = Normalized(name);
    if (candidate == wanted) return name;
    if (candidate.starts_with(wanted)) matches.push_back(name);
  }
  if (matches.size() > 1) {
    throw InvalidArgument("{} is ambiguous: it could be {}", given, fmt::join(matches, " or "));
  }
  return matches.empty() ? std::string(given) : matches[0];
}

void ExpandOptions(std::vector<std::string>& arguments, const std::vector<std::string>& names) {
  for (std::string& argument : arguments) {
    if (argument == "--") return;
    if (!argument.starts_with("--")) continue;
    const size_t equals = std::min(argument.find('='), argument.size());
    const std::string name = ExpandOption(argument.substr(0, equals), names);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw InvalidArgument("there is no flag {}{}", name, DidYouMean(name, names));
    }
    if (equals + 1 == argument.size()) throw InvalidArgument("{} has no value", name);
    argument = name + argument.substr(equals);
  }
}

}  // namespace sextant::cli
