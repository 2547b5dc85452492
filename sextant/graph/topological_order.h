// Order of nodes in which inputs come before their consumers.
#pragma once

#include <string>
#include <vector>

#include "sextant/base/function_ref.h"

namespace sextant {

// Numbers 0 ... count-1 in that order; the smaller number first where the edges leave a choice at
// the start. inputs(i, visit) calls visit(j) for each input j of i; edges that close a loop on
// purpose are left out by the caller. Throws INVALID_ARGUMENT, naming the nodes, when there is a
// cycle. Linear.
using VisitInputs = FunctionRef<void(int, FunctionRef<void(int)>)>;
std::vector<int> TopologicalOrder(int count, VisitInputs inputs,
                                  FunctionRef<std::string(int)> name);

}  // namespace sextant
