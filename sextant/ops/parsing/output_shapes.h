// OutputShapes: what the parsing ops know of the shapes of their many outputs.
#pragma once

#include <vector>

#include "sextant/graph/shape_context.h"

namespace sextant {

// Sets shapes of the outputs one after another, from the first on.
class OutputShapes {
 public:
  explicit OutputShapes(ShapeContext& c) : c_(c) {}
  void Add(size_t count, const PartialShape& shape);
  // Indices, values and shapes of sparse tensors of this rank.
  void AddSparse(size_t count, int rank);
  // "prefix" + shape for each.
  void AddDense(const PartialShape& prefix, const std::vector<PartialShape>& shapes);

 private:
  ShapeContext& c_;
  int next_ = 0;
};

// Throws INVALID_ARGUMENT, naming "what", unless the counts are equal.
void CheckCount(const char* what, size_t count, size_t wanted);
// The shape of input 0, a scalar or a vector of serialized messages, or unknown.
// Throws INVALID_ARGUMENT when it has another rank.
const PartialShape& SerializedShape(ShapeContext& c);

}  // namespace sextant
