// Names that a misspelt one may stand for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"

namespace sextant {

// The one of `names` that is most like the one given: few letters must be inserted, left out,
// replaced or swapped, or one begins with the other. Capitals count as small letters, - as _.
// "" when none is like it.
std::string NearestName(std::string_view given, std::span<const std::string> names);

// "; did you mean tree?", or "" when no name is like the one given.
std::string DidYouMean(std::string_view given, std::span<const std::string> names);

// The same with the names there are: "; did you mean wide_deep? There are dnn, linear, wide_deep",
// "; there are dnn, linear", "; there are none". Long lists are cut.
SEXTANT_API std::string DidYouMeanOneOf(std::string_view given, std::span<const std::string> names);

// "a", "a or b", "a, b or c".
std::string JoinWithOr(std::span<const std::string> names);

}  // namespace sextant
