// Side effects: tells stateful nodes that change state from those that only read state, create
// resources or draw random numbers. The latter need not run when nothing uses their outputs.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

class Effects {
 public:
  // Of the nodes of "graph", which must outlive this and may get functions of new names meanwhile.
  explicit Effects(const Graph& graph) : functions_(graph.functions()) {}

  // A node that runs functions (If, While, a call) has an effect when one of them has.
  bool HasEffect(const Node& node);
  // What to wait for until all effects of a body have happened: the nodes that have them; for those
  // inside a v1 loop, the Exits of the outermost loop around them.
  std::vector<Node*> EndsIn(const FunctionBody& body);

 private:
  bool FunctionHasEffect(const FuncAttr& function);

  const FunctionLibrary& functions_;
  std::unordered_map<std::string, bool> known_;
};

}  // namespace sextant
