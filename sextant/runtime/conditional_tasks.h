// Conditionals of Switch and Merge in graphs that run on several tasks.
#pragma once

#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// Throws UNIMPLEMENTED, naming both nodes, where a tensor that a Switch may leave without a value
// goes from one fragment to another, or to this task. "group" as in FragmentGroups.
void CheckConditionals(const std::vector<Node*>& order, const std::vector<int>& group);

}  // namespace sextant
