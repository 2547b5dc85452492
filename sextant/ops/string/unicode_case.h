// Upper and lower case of text in UTF-8, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace sextant {

// By Unicode's full mappings: "straße" becomes "STRASSE", a sigma that ends a word "ς". Bytes that
// are not UTF-8 become U+FFFD. Throws UNIMPLEMENTED where the C library knows no UTF-8.
void ToUpperUtf8(std::string_view text, std::string* upper);
void ToLowerUtf8(std::string_view text, std::string* lower);

}  // namespace sextant
