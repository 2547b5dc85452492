// The shape functions that many ops share.
#include <algorithm>

#include "sextant/graph/shape_context.h"

namespace sextant::shapes {

namespace {

int64_t BroadcastSize(int64_t a, int64_t b, const PartialShape& left, const PartialShape& right) {
  if (a == 1 || a == b) return b;
  if (b == 1) return a;
  // An unknown size beside a known one greater than 1 can only be that one or 1.
  if (a == PartialShape::kUnknown) return b;
  if (b == PartialShape::kUnknown) return a;
  throw InvalidArgument("shapes {} and {} cannot be broadcast: {} against {}", left.ToString(),
                        right.ToString(), a, b);
}

}  // namespace

void Unknown(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, PartialShape());
}

void Scalar(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape());
}

void Unchanged(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_output(i, c.input(0));
    if (const HandleShape* handle = c.input_handle(0)) c.set_output_handle(i, *handle);
  }
}

void NoOutputs(ShapeContext&) {}

void BroadcastBinary(ShapeContext& c) { c.set_output(0, Broadcast(c.input(0), c.input(1))); }

void MergeAll(ShapeContext& c) {
  PartialShape merged;
  for (int i = 0; i < c.num_inputs(); ++i) merged = merged.MergeWith(c.input(i));
  c.set_output(0, std::move(merged));
}

void Reduction(ShapeContext& c) {
  const PartialShape& input = c.input(0);
  const bool keep = c.attr<bool>("keep_dims");
  if (!input.rank_known()) return c.set_output(0, PartialShape());
  const auto axes = c.InputInts(1);
  if (!axes) {
    return c.set_output(0, keep ? PartialShape::UnknownOfRank(input.rank()) : PartialShape());
  }
  std::vector<bool> reduced(input.rank());
  for (int64_t axis : *axes) reduced[NormalizeAxis(axis, input.rank())] = true;
  std::vector<int64_t> sizes;
  for (int i = 0; i < input.rank(); ++i) {
    if (!reduced[i]) sizes.push_back(input[i]);
    if (reduced[i] && keep) sizes.push_back(1);
  }
  c.set_output(0, PartialShape(sizes));
}

void FromShapeInput(ShapeContext& c) { c.set_output(0, c.InputAsShape(0)); }

void FromShapeAttr(ShapeContext& c) { c.set_output(0, c.attr<PartialShape>("shape")); }

PartialShape Broadcast(const PartialShape& a, const PartialShape& b) {
  if (!a.rank_known() || !b.rank_known()) return PartialShape();
  const PartialShape& longer = a.rank() >= b.rank() ? a : b;
  const PartialShape& shorter = a.rank() >= b.rank() ? b : a;
  const int extra = longer.rank() - shorter.rank();
  PartialShape result = longer;
  for (int i = 0; i < shorter.rank(); ++i) {
    result.set_dim(extra + i, BroadcastSize(longer[extra + i], shorter[i], a, b));
  }
  return result;
}

int NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    throw InvalidArgument("axis {} is outside [{}, {})", axis, -rank, rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace sextant::shapes
