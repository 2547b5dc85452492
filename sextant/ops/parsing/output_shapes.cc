#include "sextant/ops/parsing/output_shapes.h"

namespace sextant {

void OutputShapes::Add(size_t count, const PartialShape& shape) {
  for (size_t i = 0; i < count; ++i) c_.set_output(next_++, shape);
}

void OutputShapes::AddSparse(size_t count, int rank) {
  Add(count, {PartialShape::kUnknown, rank});
  Add(count, {PartialShape::kUnknown});
  Add(count, {rank});
}

void OutputShapes::AddDense(const PartialShape& prefix, const std::vector<PartialShape>& shapes) {
  for (const PartialShape& shape : shapes) {
    PartialShape whole = prefix;
    for (int d = 0; shape.rank_known() && d < shape.rank(); ++d) whole.Append(shape[d]);
    Add(1, shape.rank_known() ? whole : PartialShape());
  }
}

void CheckCount(const char* what, size_t count, size_t wanted) {
  if (count != wanted) throw InvalidArgument("expected {} {}, got {}", wanted, what, count);
}

const PartialShape& SerializedShape(ShapeContext& c) {
  const PartialShape& serialized = c.input(0);
  if (serialized.rank_known() && serialized.rank() > 1) {
    throw InvalidArgument("serialized must be a scalar or a vector, got shape {}",
                          serialized.ToString());
  }
  return serialized;
}

}  // namespace sextant
