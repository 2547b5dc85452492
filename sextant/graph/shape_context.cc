#include "sextant/graph/shape_context.h"

#include <utility>

#include "sextant/graph/index_type.h"

namespace sextant {

ShapeContext::ShapeContext(const Node& node, std::vector<PartialShape> inputs,
                           std::vector<const HandleShape*> handles, ValueFunction value,
                           ShapeValueFunction shape_value)
    : node_(node),
      inputs_(std::move(inputs)),
      outputs_(node.num_outputs()),
      handles_(std::move(handles)),
      output_handles_(node.num_outputs()),
      value_(std::move(value)),
      shape_value_(std::move(shape_value)) {
  handles_.resize(inputs_.size());
}

PartialShape ShapeContext::InputOfRank(int i, int rank) const {
  const PartialShape& shape = inputs_[i];
  if (!shape.rank_known()) return PartialShape::UnknownOfRank(rank);
  if (shape.rank() != rank) {
    throw InvalidArgument("input {} must have rank {}, but its shape is {}", i, rank,
                          shape.ToString());
  }
  return shape;
}

PartialShape ShapeContext::InputOfRankAtLeast(int i, int rank) const {
  const PartialShape& shape = inputs_[i];
  if (shape.rank_known() && shape.rank() < rank) {
    throw InvalidArgument("input {} must have rank at least {}, but its shape is {}", i, rank,
                          shape.ToString());
  }
  return shape;
}

std::optional<int64_t> ShapeContext::InputInt(int i) const {
  const std::optional<Tensor> value = InputValue(i);
  if (!value || value->num_elements() != 1 || !IsIndex(value->dtype())) return std::nullopt;
  return value->AsInt64();
}

std::optional<std::vector<int64_t>> ShapeContext::InputInts(int i) const {
  const std::optional<Tensor> value = InputValue(i);
  if (!value || value->rank() > 1 || !IsIndex(value->dtype())) return std::nullopt;
  return value->AsInt64s();
}

}  // namespace sextant
