// Constants in place of inputs whose values are known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/function_ref.h"
#include "sextant/graph/graph.h"

namespace sextant {

// The constant that stands for a tensor.
struct KnownInput {
  Tensor value;
  std::vector<Node*> control_inputs = {};  // what it waits for
  std::string device = {};                 // "": any
};

// Wherever "find" knows an input, the node reads a constant instead; all readers of a tensor read
// the same one, named as the node of the tensor with "suffix" behind it. "find" is asked in the
// order of the nodes, not of what is a Const, and no more of a tensor that it has known.
void UseConstants(Graph& graph, std::string_view suffix,
                  FunctionRef<std::optional<KnownInput>(Output)> find);

}  // namespace sextant
