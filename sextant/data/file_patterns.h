// Expands paths and patterns to the files that exist.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace sextant::data {

// The files in the order given, those of a pattern sorted. What exists by the very name is no
// pattern. NOT_FOUND names what is not there or matches nothing; INVALID_ARGUMENT without any.
std::vector<std::string> ExpandPatterns(std::span<const std::string> patterns);

// "a.csv, b.csv" for Describe.
std::string JoinPatterns(std::span<const std::string> patterns);

}  // namespace sextant::data
