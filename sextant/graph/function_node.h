// Which nodes run functions of the library.
#pragma once

#include <algorithm>

#include "sextant/graph/graph.h"

namespace sextant {

// Whether functions are among its attributes, as of loops, branches, calls and datasets.
inline bool RunsFunctions(const Node& node) {
  return std::ranges::any_of(node.attrs(), [](const auto& attr) {
    return attr.second.template Is<FuncAttr>() || attr.second.template Is<std::vector<FuncAttr>>();
  });
}

// Whether it is an If, Case or While, stateless or not: of the nodes that run functions those that
// may run on another task than the variables they are given. A dataset may not.
inline bool IsBranchOrLoop(const Node& node) {
  const std::string& type = node.type();
  return type.ends_with("If") || type.ends_with("Case") || type.ends_with("While");
}

}  // namespace sextant
