#include "sextant/base/nearest_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sextant {
namespace {

constexpr size_t kMostLetters = 100;  // of a name that is looked for
constexpr size_t kMostListed = 30;

std::string Normalized(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return result;
}

// The optimal string alignment distance: edits by which one becomes the other, a swap of
// neighbours counted as one. Row i of the usual table needs the two rows above it.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string NearestName(std::string_view given, std::span<const std::string> names) {
  const std::string wanted = Normalized(given);
  if (wanted.empty() || wanted.size() > kMostLetters) return "";
  const size_t most = std::max<size_t>(1, wanted.size() / 3);
  size_t least = std::numeric_limits<size_t>::max();
  std::string nearest;
  for (const std::string& name : names) {
    if (name.size() > kMostLetters) continue;
    const std::string candidate = Normalized(name);
    size_t distance = EditDistance(wanted, candidate);
    const bool begins = (wanted.size() > 1 && candidate.starts_with(wanted)) ||
                        (candidate.size() > 2 && wanted.starts_with(candidate));
    if (begins) distance = std::min(distance, most);
    if (distance <= most && distance < least) {
      least = distance;
      nearest = name;
    }
  }
  // A name of one or two letters is near to any other such name.
  return least >= std::min(wanted.size(), nearest.size()) ? "" : nearest;
}

std::string DidYouMean(std::string_view given, std::span<const std::string> names) {
  const std::string nearest = NearestName(given, names);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

std::string DidYouMeanOneOf(std::string_view given, std::span<const std::string> names) {
  if (names.empty()) return "; there are none";
  const std::string nearest = DidYouMean(given, names);
  std::string list =
      fmt::format("{}", fmt::join(names.first(std::min(names.size(), kMostListed)), ", "));
  if (names.size() > kMostListed) list += fmt::format(" and {} more", names.size() - kMostListed);
  const char* verb = names.size() == 1 ? "is" : "are";
  return nearest.empty() ? fmt::format("; there {} {}", verb, list)
                         : fmt::format("{} There {} {}", nearest, verb, list);
}

std::string JoinWithOr(std::span<const std::string> names) {
  if (names.size() < 2) return names.empty() ? "" : names[0];
  return fmt::format("{} or {}", fmt::join(names.first(names.size() - 1), ", "), names.back());
}

}  // namespace sextant
