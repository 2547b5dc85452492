// RegexFullMatch, RegexReplace: regular expressions in RE2's syntax.
#pragma once

#include <string>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API RegexReplaceOptions {
  bool replace_global = true;  // all matches; else the first
};
// Matches of the pattern replaced by "rewrite", in which \1 to \9 stand for groups and \0 for the
// whole match.
Output RegexReplace(Output x, Output pattern, Output rewrite,
                    const RegexReplaceOptions& options = {});
Output StaticRegexReplace(Output x, const std::string& pattern, const std::string& rewrite,
                          const RegexReplaceOptions& options = {});
// Whether the pattern matches all of each element.
Output RegexFullMatch(Output x, Output pattern);
Output StaticRegexFullMatch(Output x, const std::string& pattern);

}  // namespace sextant

#pragma GCC visibility pop
