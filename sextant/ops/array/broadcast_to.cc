#include "sextant/ops/array/broadcast_to.h"

#include <algorithm>
#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/array/shape.h"

namespace sextant {
namespace {

void BroadcastToShape(ShapeContext& c) {
  const PartialShape& input = c.input(0);
  PartialShape target = c.InputAsShape(1);
  if (target.rank_known() && input.rank_known()) {
    const int offset = target.rank() - input.rank();
    if (offset < 0) {
      throw InvalidArgument("cannot broadcast {} to {}", input.ToString(), target.ToString());
    }
    for (int i = 0; i < input.rank(); ++i) {
      const int64_t from = input[i], to = target[i + offset];
      if (from == PartialShape::kUnknown || from == 1) continue;
      if (to == PartialShape::kUnknown) {
        target.set_dim(i + offset, from);
      } else if (to != from) {
        throw InvalidArgument("Incompatible shapes: {} vs. {}", input.ToString(),
                              target.ToString());
      }
    }
  }
  c.set_output(0, std::move(target));
}

void BroadcastArgsShape(ShapeContext& c) {
  const PartialShape a = c.InputOfRank(0, 1), b = c.InputOfRank(1, 1);
  const bool known = a[0] != PartialShape::kUnknown && b[0] != PartialShape::kUnknown;
  c.set_output(0, {known ? std::max(a[0], b[0]) : PartialShape::kUnknown});
}

void BroadcastGradientArgsShape(ShapeContext& c) {
  c.InputOfRank(0, 1);
  c.InputOfRank(1, 1);
  for (int i = 0; i < 2; ++i) c.set_output(i, PartialShape::UnknownOfRank(1));
}

void TileShape(ShapeContext& c) {
  const PartialShape counts = c.InputOfRank(1, 1);
  PartialShape shape = c.input(0);
  if (!shape.rank_known()) {
    if (counts[0] == PartialShape::kUnknown) return c.set_output(0, PartialShape());
    shape = PartialShape::UnknownOfRank(static_cast<int>(counts[0]));
  }
  if (counts[0] != PartialShape::kUnknown && counts[0] != shape.rank()) {
    throw InvalidArgument("{} multiples for a tensor of rank {}", counts[0], shape.rank());
  }
  const auto all_known = c.InputInts(1);
  const PartialShape some_known = all_known ? PartialShape() : c.InputAsShape(1);
  for (int i = 0; i < shape.rank(); ++i) {
    if (all_known && (*all_known)[i] < 0) {
      throw InvalidArgument("multiples[{}] = {} must be non-negative", i, (*all_known)[i]);
    }
    const int64_t multiple = all_known                 ? (*all_known)[i]
                             : some_known.rank_known() ? some_known[i]
                                                       : PartialShape::kUnknown;
    if (multiple == PartialShape::kUnknown ||
        (shape[i] == PartialShape::kUnknown && multiple != 0)) {
      shape.set_dim(i, PartialShape::kUnknown);
      continue;
    }
    int64_t size;
    if (__builtin_mul_overflow(multiple == 0 ? 0 : shape[i], multiple, &size)) {
      throw InvalidArgument("dimension {} of size {} tiled {} times is too large", i, shape[i],
                            multiple);
    }
    shape.set_dim(i, size);
  }
  c.set_output(0, std::move(shape));
}

Output SumOver(Output x, Output axes) { return OpBuilder("Sum").Input(x).Input(axes).Build(); }

void BroadcastToGradient(GradientContext& c) {
  const DType index = c.input(1).dtype();
  const Output shape = ShapeOf(c.input(0), index);
  const Output axes = BroadcastGradientArgs(shape, ShapeOf(c.output(0), index)).first;
  c.set(0, Reshape(SumOver(c.grad(), axes), shape));
}

// The gradient seen as [multiple 0, size 0, multiple 1, size 1, ...] is summed over the multiples.
void TileGradient(GradientContext& c) {
  const Output x = c.input(0), multiples = c.input(1);
  const auto counts = ConstantValue(multiples);
  if (counts && x.shape().fully_known()) {
    const std::vector<int64_t> repeats = counts->AsInt64s();
    std::vector<int64_t> split, axes;
    for (int i = 0; i < x.shape().rank(); ++i) {
      split.insert(split.end(), {repeats[i], x.shape()[i]});
      axes.push_back(2 * i);
    }
    return c.set(0, SumOver(Reshape(c.grad(), split), ConstInts(axes)));
  }
  const Output pairs = Pack({multiples, ShapeOf(x, multiples.dtype())}, 1);
  const Output axes = OpBuilder("Range")
                          .Input(Const(Tensor(int32_t{0})))
                          .Input(Size(pairs))
                          .Input(Const(Tensor(int32_t{2})))
                          .Build();
  c.set(0, SumOver(Reshape(c.grad(), Reshape(pairs, {-1})), axes));
}

}  // namespace

Output BroadcastTo(Output x, const IndexArg& shape) {
  return OpBuilder("BroadcastTo").Input(x).Input(shape.ToVector()).Build();
}
Output BroadcastArgs(Output s0, Output s1) {
  return OpBuilder("BroadcastArgs").Input(s0).Input(s1).Build();
}
std::pair<Output, Output> BroadcastGradientArgs(Output s0, Output s1) {
  const auto axes = OpBuilder("BroadcastGradientArgs").Input(s0).Input(s1).BuildAll();
  return {axes[0], axes[1]};
}
Output Tile(Output x, const IndexArg& multiples) {
  return OpBuilder("Tile").Input(x).Input(multiples.ToVector()).Build();
}

void RegisterBroadcastTo(OpRegistry& registry) {
  registry.Add(OpDef("BroadcastTo")
                   .Inputs("input:T, shape:Tidx")
                   .Outputs("output:T")
                   .Attrs("T:type; Tidx:type=int32 in [int32,int64]")
                   .Doc("The input repeated along missing and size-1 dimensions to fill shape.")
                   .Shape(BroadcastToShape)
                   .Gradient(BroadcastToGradient));
  registry.Add(OpDef("BroadcastArgs")
                   .Inputs("s0:T, s1:T")
                   .Outputs("r0:T")
                   .Attrs("T:type=int32 in [int32,int64]")
                   .Doc("The shape that operands of the shapes s0 and s1 broadcast to.")
                   .Shape(BroadcastArgsShape)
                   .NotDifferentiable("integer result"));
  registry.Add(OpDef("BroadcastGradientArgs")
                   .Inputs("s0:T, s1:T")
                   .Outputs("r0:T, r1:T")
                   .Attrs("T:type=int32 in [int32,int64]")
                   .Doc("The axes over which the gradient of a broadcast result is summed to give "
                        "the gradient of the operand of shape s0, and of s1.")
                   .Shape(BroadcastGradientArgsShape)
                   .NotDifferentiable("integer result"));
  registry.Add(OpDef("Tile")
                   .Inputs("input:T, multiples:Tmultiples")
                   .Outputs("output:T")
                   .Attrs("T:type; Tmultiples:type=int32 in [int32,int64]")
                   .Doc("The input repeated multiples[i] times along dimension i.")
                   .Shape(TileShape)
                   .Gradient(TileGradient));
}

}  // namespace sextant
