// Base64 in the alphabet safe for URLs and file names ("-" and "_" for 62 and 63).
#pragma once

#include <string>
#include <string_view>

namespace sextant {

void EncodeBase64(std::string_view bytes, bool pad, std::string* text);
// With "+" and "/" instead, padded.
std::string StandardBase64(std::string_view bytes);
// Padding may be there or not. Throws INVALID_ARGUMENT on other characters and impossible lengths.
void DecodeBase64(std::string_view text, std::string* bytes);

}  // namespace sextant
