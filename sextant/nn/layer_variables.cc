#include "sextant/nn/layer_variables.h"

#include "sextant/base/error.h"
#include "sextant/graph/variable_scope_names.h"

namespace sextant::layers {

LayerScope::LayerScope(std::string_view name, std::string_view default_name)
    : scope_(name.empty() ? FreeVariableScopeName(default_name) : std::string(name)) {}

int64_t KnownDim(Output x, int i, std::string_view layer) {
  const PartialShape& shape = x.shape();
  if (shape.rank_known()) {
    const int dim = i < 0 ? shape.rank() + i : i;
    if (dim >= 0 && dim < shape.rank() && shape[dim] >= 0) return shape[dim];
  }
  throw InvalidArgument("{}: dimension {} of its input {} must be known, the shape is {}", layer, i,
                        x.name(), shape.ToString());
}

void CheckRank(Output x, int rank, std::string_view layer) {
  const PartialShape& shape = x.shape();
  if (shape.rank_known() && shape.rank() == rank) return;
  throw InvalidArgument("{}: its input {} must have {} dimensions, the shape is {}", layer,
                        x.name(), rank, shape.ToString());
}

void CheckPositive(int64_t value, std::string_view what, std::string_view layer) {
  if (value <= 0) throw InvalidArgument("{}: {} must be positive, is {}", layer, what, value);
}

}  // namespace sextant::layers
