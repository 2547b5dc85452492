// StringFormat: text with the values of tensors in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API StringFormatOptions {
  std::string placeholder = "%s";
  int64_t summarize = 3;  // values shown at both ends of each dimension; -1: all
};
// The template with each placeholder replaced by the text of the tensor in its place: "[1 2 3]".
Output StringFormat(const std::vector<Output>& xs, const std::string& text,
                    const StringFormatOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
