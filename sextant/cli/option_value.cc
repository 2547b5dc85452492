#include "sextant/cli/option_value.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/base/error.h"
#include "sextant/base/nearest_name.h"
#include "sextant/base/parse_number.h"

namespace sextant::cli {
namespace {

// "from 0 to 9", "at least 0", "".
template <typename T>
std::string RangeText(T least, T most) {
  const bool has_least = least > std::numeric_limits<T>::lowest();
  const bool has_most = most < std::numeric_limits<T>::max();
  if (has_least && has_most) return fmt::format(" from {} to {}", least, most);
  if (has_least) return fmt::format(" of at least {}", least);
  return has_most ? fmt::format(" of at most {}", most) : "";
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), ::tolower);
  return text;
}

}  // namespace

int64_t IntegerOption(const std::string& flag, const std::string& text, int64_t least,
                      int64_t most) {
  int64_t value = 0;
  if (!ParseNumber(text, &value) || value < least || value > most) {
    throw InvalidArgument("{} must be an integer{}, not '{}'", flag, RangeText(least, most), text);
  }
  return value;
}

double NumberOption(const std::string& flag, const std::string& text, double least, double most) {
  double value = 0;
  const bool is_number = text.find_first_not_of(" \t") != std::string::npos &&
                         ParseNumber(text, &value) && std::isfinite(value);
  if (!is_number || value < least || value > most) {
    throw InvalidArgument("{} must be a number{}, not '{}'", flag, RangeText(least, most), text);
  }
  return value;
}

std::string ChoiceOption(const std::string& flag, const std::string& text,
                         const std::vector<std::string>& choices) {
  for (const std::string& choice : choices) {
    if (Lower(choice) == Lower(text)) return choice;
  }
  throw InvalidArgument("{} must be {}, not '{}'{}", flag, JoinWithOr(choices), text,
                        DidYouMean(text, choices));
}

}  // namespace sextant::cli
