// Values of options, checked. Each function throws INVALID_ARGUMENT with a sentence that names the
// flag: "--threads must be an integer from 0 to 4096, not 'many'".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::cli {

int64_t IntegerOption(const std::string& flag, const std::string& text, int64_t least,
                      int64_t most);
// NaN and infinities are refused.
double NumberOption(const std::string& flag, const std::string& text, double least, double most);
// The one of `choices` that is given; capitals count as small letters.
std::string ChoiceOption(const std::string& flag, const std::string& text,
                         const std::vector<std::string>& choices);

}  // namespace sextant::cli
