#include "sextant/ops/array/slice.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/array/pad.h"
#include "sextant/ops/array/shape.h"

namespace sextant {
namespace {

void SliceShape(ShapeContext& c) {
  const PartialShape& input = c.input(0);
  const PartialShape begin_shape = c.InputOfRank(1, 1), size_shape = c.InputOfRank(2, 1);
  const PartialShape count = begin_shape.MergeWith(size_shape);
  int rank = static_cast<int>(count[0]);
  if (input.rank_known()) {
    if (rank >= 0 && rank != input.rank()) {
      throw InvalidArgument("begin and size have {} elements for a tensor of rank {}", rank,
                            input.rank());
    }
    rank = input.rank();
  }
  if (rank < 0) return c.set_output(0, PartialShape());
  PartialShape shape = PartialShape::UnknownOfRank(rank);
  const auto begin = c.InputInts(1), size = c.InputInts(2);
  for (int i = 0; size && i < rank; ++i) {
    const int64_t dim = input.rank_known() ? input[i] : PartialShape::kUnknown;
    if ((*size)[i] >= 0) {
      shape.set_dim(i, (*size)[i]);
    } else if ((*size)[i] == -1 && dim != PartialShape::kUnknown && begin) {
      shape.set_dim(i, std::max<int64_t>(dim - (*begin)[i], 0));
    }
    const int64_t start = begin ? (*begin)[i] : 0;
    if ((*size)[i] < -1 || start < 0 || (dim != PartialShape::kUnknown && start > dim) ||
        (dim != PartialShape::kUnknown && (*size)[i] > dim - start)) {
      throw InvalidArgument("begin {} and size {} do not fit dimension {} of size {}", start,
                            (*size)[i], i, dim);
    }
  }
  if (!size) {  // sizes that come from a shape are known in part; a -1 among them is not told apart
    shape = shape.MergeWith(c.InputAsShape(2));
  }
  c.set_output(0, std::move(shape));
}

// The gradient of what was left out is zero.
void SliceGradient(GradientContext& c) {
  const Output x = c.input(0), begin = c.input(1);
  const PartialShape& part = c.output(0).shape();
  const auto start = ConstantValue(begin);
  if (start && x.shape().fully_known() && part.fully_known()) {
    std::vector<std::pair<int64_t, int64_t>> paddings;
    for (int i = 0; i < part.rank(); ++i) {
      const int64_t before = start->AsInt64s()[i];
      paddings.emplace_back(before, x.shape()[i] - part[i] - before);
    }
    return c.set(0, Pad(c.grad(), paddings));
  }
  const DType index = begin.dtype();
  const Output end = OpBuilder("AddV2").Input(begin).Input(ShapeOf(c.output(0), index)).Build();
  const Output after = OpBuilder("Sub").Input(ShapeOf(x, index)).Input(end).Build();
  c.set(0, Pad(c.grad(), Pack({begin, after}, 1)));
}

}  // namespace

Output Slice(Output x, const IndexArg& begin, const IndexArg& size) {
  const IndexArg* const args[] = {&begin, &size};
  const DType index = IndexArg::CommonType(args);
  return OpBuilder("Slice")
      .Input(x)
      .Input(begin.ToVector(index))
      .Input(size.ToVector(index))
      .Build();
}

void RegisterSlice(OpRegistry& registry) {
  registry.Add(OpDef("Slice")
                   .Inputs("input:T, begin:Index, size:Index")
                   .Outputs("output:T")
                   .Attrs("T:type; Index:type in [int32,int64]")
                   .Doc("The box of the input that starts at begin and has the given size; -1 "
                        "stands for all that follows.")
                   .Shape(SliceShape)
                   .Gradient(SliceGradient));
}

}  // namespace sextant
