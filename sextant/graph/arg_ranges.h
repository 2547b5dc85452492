// Which of a node's flat outputs belong to which output argument of its op. Function bodies name
// tensors that way: "node:argument:position".
#pragma once

#include <string>
#include <string_view>

#include "sextant/graph/graph.h"

namespace sextant {

struct ArgRange {
  int begin = 0;
  int count = 0;
};

// Number of tensors of one argument. Throws INVALID_ARGUMENT when an attribute it depends on is
// missing.
int64_t NumTensors(const Node& node, const ArgDef& arg);
// Throws INVALID_ARGUMENT when the op has no such output.
ArgRange OutputRange(const Node& node, std::string_view argument);
// "product:0": the argument of that output and its position in it.
std::string OutputReference(const Node& node, int output);
// The type that the node wants of each input; kInvalid where it does not say.
std::vector<DType> InputTypes(const Node& node);

}  // namespace sextant
