#include "sextant/ops/array/shape.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void ShapeOfShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_output(i, c.input(i).rank_known() ? PartialShape{c.input(i).rank()}
                                            : PartialShape::UnknownOfRank(1));
  }
}

// A size in "target" that is not known may be -1, so it follows from the others only when the
// number of elements is known and they are all known.
void ReshapeShape(ShapeContext& c) {
  PartialShape target = c.InputAsShape(1);
  if (!target.rank_known()) return c.set_output(0, target);
  const int64_t elements = c.input(0).rank_known() ? c.input(0).num_elements() : -1;
  int unknown = 0, position = -1;
  int64_t rest = 1;
  for (int i = 0; i < target.rank(); ++i) {
    if (target[i] == PartialShape::kUnknown) {
      ++unknown;
      position = i;
    } else if (__builtin_mul_overflow(rest, target[i], &rest)) {
      throw InvalidArgument("cannot reshape {} to {}", c.input(0).ToString(), target.ToString());
    }
  }
  if (elements != PartialShape::kUnknown) {
    if (unknown == 0 && rest != elements) {
      throw InvalidArgument("cannot reshape {} ({} elements) to {} ({} elements)",
                            c.input(0).ToString(), elements, target.ToString(), rest);
    }
    if (unknown == 1 && rest > 0) {
      if (elements % rest != 0) {
        throw InvalidArgument("cannot reshape {} to {}: {} is not a multiple of {}",
                              c.input(0).ToString(), target.ToString(), elements, rest);
      }
      target.set_dim(position, elements / rest);
    }
  }
  c.set_output(0, std::move(target));
}

void SqueezeShape(ShapeContext& c) {
  const PartialShape& input = c.input(0);
  const auto& axes = c.attr<std::vector<int64_t>>("squeeze_dims");
  if (!input.rank_known()) return c.set_output(0, PartialShape());
  const int rank = input.rank();
  std::vector<bool> squeeze(rank, false);
  for (int64_t axis : axes) squeeze[shapes::NormalizeAxis(axis, rank)] = true;
  std::vector<int64_t> dims;
  for (int i = 0; i < rank; ++i) {
    if (axes.empty() && input[i] == PartialShape::kUnknown) {
      return c.set_output(0, PartialShape());  // it may be 1 and go, or not
    }
    if (squeeze[i] && input[i] > 1) {
      throw InvalidArgument("Can not squeeze dim[{}], expected a dimension of 1, got {}", i,
                            input[i]);
    }
    if (!(axes.empty() ? input[i] == 1 : squeeze[i])) dims.push_back(input[i]);
  }
  c.set_output(0, PartialShape(dims));
}

void ExpandDimsShape(ShapeContext& c) {
  PartialShape shape = c.input(0);
  const auto axis = c.InputInt(1);
  if (!shape.rank_known()) return c.set_output(0, PartialShape());
  if (!axis) return c.set_output(0, PartialShape::UnknownOfRank(shape.rank() + 1));
  shape.Insert(shapes::NormalizeAxis(*axis, shape.rank() + 1), 1);
  c.set_output(0, std::move(shape));
}

void ReshapeGradient(GradientContext& c) { c.set(0, Reshape(c.grad(), ShapeOf(c.input(0)))); }

}  // namespace

Output ShapeOf(Output x, DType out_type) {
  return OpBuilder("Shape").Input(x).Attr("out_type", out_type).Build();
}
std::vector<Output> ShapeN(const std::vector<Output>& xs, DType out_type) {
  return OpBuilder("ShapeN").Input(xs).Attr("out_type", out_type).BuildAll();
}
Output Size(Output x, DType out_type) {
  return OpBuilder("Size").Input(x).Attr("out_type", out_type).Build();
}
Output Rank(Output x) { return OpBuilder("Rank").Input(x).Build(); }
Output Reshape(Output x, const IndexArg& shape) {
  return OpBuilder("Reshape").Input(x).Input(shape.ToVector()).Build();
}
Output Squeeze(Output x, const std::vector<int64_t>& axes) {
  return OpBuilder("Squeeze").Input(x).Attr("squeeze_dims", axes).Build();
}
Output ExpandDims(Output x, const IndexArg& axis) {
  return OpBuilder("ExpandDims").Input(x).Input(axis.ToOutput()).Build();
}

void RegisterShape(OpRegistry& registry) {
  const char* const kNoGradient = "depends on the shape only";
  registry.Add(OpDef("Shape")
                   .Inputs("input:T")
                   .Outputs("output:out_type")
                   .Attrs("T:type; out_type:type=int32 in [int32,int64]")
                   .Doc("The sizes of the input's dimensions.")
                   .Shape(ShapeOfShape)
                   .NotDifferentiable(kNoGradient));
  registry.Add(OpDef("ShapeN")
                   .Inputs("input:N*T")
                   .Outputs("output:N*out_type")
                   .Attrs("N:int>=1; T:type; out_type:type=int32 in [int32,int64]")
                   .Doc("The shape of each input.")
                   .Shape(ShapeOfShape)
                   .NotDifferentiable(kNoGradient));
  registry.Add(OpDef("Size")
                   .Inputs("input:T")
                   .Outputs("output:out_type")
                   .Attrs("T:type; out_type:type=int32 in [int32,int64]")
                   .Doc("The number of elements of the input.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(kNoGradient));
  registry.Add(OpDef("Rank")
                   .Inputs("input:T")
                   .Outputs("output:int32")
                   .Attrs("T:type")
                   .Doc("The number of dimensions of the input.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(kNoGradient));
  registry.Add(OpDef("Reshape")
                   .Inputs("tensor:T, shape:Tshape")
                   .Outputs("output:T")
                   .Attrs("T:type; Tshape:type=int32 in [int32,int64]")
                   .Doc("The same elements under another shape, of which one size may be -1: as "
                        "many as are left.")
                   .Shape(ReshapeShape)
                   .Gradient(ReshapeGradient));
  registry.Add(OpDef("Squeeze")
                   .Inputs("input:T")
                   .Outputs("output:T")
                   .Attrs("T:type; squeeze_dims:list(int)=[]>=0")
                   .Doc("The input without the dimensions of size 1 that squeeze_dims names, or "
                        "without all of them when it names none.")
                   .Shape(SqueezeShape)
                   .Gradient(ReshapeGradient));
  registry.Add(OpDef("ExpandDims")
                   .Inputs("input:T, dim:Tdim")
                   .Outputs("output:T")
                   .Attrs("T:type; Tdim:type=int32 in [int32,int64]")
                   .Doc("The input with a dimension of size 1 inserted before dimension dim; "
                        "negative values count from the end.")
                   .Shape(ExpandDimsShape)
                   .Gradient(ReshapeGradient));
}

}  // namespace sextant
