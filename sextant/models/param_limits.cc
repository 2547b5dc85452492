#include "sextant/models/param_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "sextant/base/error.h"
#include "sextant/base/nearest_name.h"

namespace sextant::models {
namespace {

constexpr double kLargestFloat = std::numeric_limits<float>::max();

std::string Describe(const ParamLimits& limits) {
  const bool has_least = limits.least > std::numeric_limits<double>::lowest();
  const bool has_most = limits.most < kLargestFloat;
  std::string text;
  if (has_least) {
    text = fmt::format("{} {}", limits.above_least ? "greater than" : "at least", limits.least);
  }
  if (has_most) {
    text += fmt::format("{}{} {}", has_least ? " and " : "",
                        limits.below_most ? "less than" : "at most", limits.most);
  }
  return text.empty() ? "a finite number" : text;
}

template <typename T>
void CheckNumber(const std::string& name, T value, const ParamLimits& limits) {
  const auto number = static_cast<double>(value);
  const bool fits = std::isfinite(number) && number >= limits.least && number <= limits.most &&
                    !(limits.above_least && number == limits.least) &&
                    !(limits.below_most && number == limits.most);
  if (std::isfinite(number) && number > kLargestFloat && limits.most == kLargestFloat)
    throw InvalidArgument("{} must be a number that a float holds, not {}", name, value);
  if (!fits) throw InvalidArgument("{} must be {}, not {}", name, Describe(limits), value);
}

}  // namespace

ParamLimits Between(double least, double most) { return {.least = least, .most = most}; }

ParamLimits AtLeast(double least) { return {.least = least, .most = kLargestFloat}; }

ParamLimits Share() { return {.least = 0, .most = 1, .below_most = true}; }

ParamLimits OneOf(std::vector<std::string> choices) { return {.choices = std::move(choices)}; }

void CheckLimits(const std::string& name, const HParams::Value& value, const ParamLimits& limits) {
  std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
          CheckNumber(name, v, limits);
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>> ||
                             std::is_same_v<T, std::vector<double>>) {
          for (const auto item : v) CheckNumber("every number of " + name, item, limits);
        } else if constexpr (std::is_same_v<T, std::string>) {
          const auto& choices = limits.choices;
          if (choices.empty() || std::find(choices.begin(), choices.end(), v) != choices.end()) {
            return;
          }
          throw InvalidArgument("{} must be {}, not '{}'{}", name, JoinWithOr(choices), v,
                                DidYouMean(v, choices));
        }
      },
      value);
}

}  // namespace sextant::models
