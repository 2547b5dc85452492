// StringLower, StringUpper, StringStrip, EncodeBase64, DecodeBase64: text made from text, element
// by element.
#pragma once

#include <string>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API StringCaseOptions {
  std::string encoding;  // "": only ASCII letters change; "utf-8": all letters
};
Output StringLower(Output x, const StringCaseOptions& options = {});
Output StringUpper(Output x, const StringCaseOptions& options = {});
// Without the white space of ASCII at both ends.
Output StringStrip(Output x);

struct SEXTANT_API EncodeBase64Options {
  bool pad = false;  // to a multiple of four characters
};
// Base64 in the alphabet safe for URLs.
Output EncodeBase64(Output x, const EncodeBase64Options& options = {});
// Back, padded or not. Other characters are an error.
Output DecodeBase64(Output x);

}  // namespace sextant

#pragma GCC visibility pop
