// What layers share: the scope of a layer's variables, and the dimensions they need to know.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/graph/scope.h"
#include "sextant/nn/get_variable.h"

namespace sextant::layers {

// Opens the VariableScope "name" or, without one, a free "default_name".
class LayerScope {
 public:
  LayerScope(std::string_view name, std::string_view default_name);

 private:
  VariableScope scope_;
};

// Dimension i of x (from the end when negative). Throws INVALID_ARGUMENT, naming the layer, when it
// is not known.
int64_t KnownDim(Output x, int i, std::string_view layer);
// Throws INVALID_ARGUMENT unless x has this rank.
void CheckRank(Output x, int rank, std::string_view layer);
// Throws INVALID_ARGUMENT unless the number, "units" or so, is positive.
void CheckPositive(int64_t value, std::string_view what, std::string_view layer);

}  // namespace sextant::layers
