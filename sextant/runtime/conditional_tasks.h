// Conditionals of Switch and Merge in graphs that run on several tasks.
#pragma once

#include <string_view>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// Puts each conditional of a placed graph on one task as a whole: that of what it does besides
// computing and reading variables, or else the session's own. Variables of other tasks that it only
// reads are read before it. One that does things on several tasks stays as it is. "needed" as for
// CutFragments.
void GatherConditionals(Graph& graph, std::string_view own_task, const std::vector<Node*>& needed);

// Throws UNIMPLEMENTED, naming both nodes, where a tensor that a Switch may leave without a value
// goes from one fragment to another, or to this task. "group" as in FragmentGroups.
void CheckConditionals(const std::vector<Node*>& order, const std::vector<int>& group);

}  // namespace sextant
