#include "sextant/ops/array/concat_split.h"

#include <optional>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"

namespace sextant {
namespace {

void ConcatShapeOf(ShapeContext& c, int first_value, int axis_input) {
  const int count = c.num_inputs() - 1;
  const auto axis_value = c.InputInt(axis_input);
  int rank = -1;
  for (int i = 0; i < count; ++i) {
    const PartialShape& shape = c.input(first_value + i);
    if (!shape.rank_known()) continue;
    if (rank >= 0 && shape.rank() != rank) {
      throw InvalidArgument("cannot join tensors of the ranks {} and {}", rank, shape.rank());
    }
    rank = shape.rank();
  }
  if (rank == 0) throw InvalidArgument("cannot join scalars; pack them instead");
  if (rank < 0) return c.set_output(0, PartialShape());
  if (!axis_value) return c.set_output(0, PartialShape::UnknownOfRank(rank));
  const int axis = shapes::NormalizeAxis(*axis_value, rank);
  PartialShape result;
  int64_t size = 0;
  for (int i = 0; i < count; ++i) {
    PartialShape shape = c.input(first_value + i);
    if (!shape.rank_known()) shape = PartialShape::UnknownOfRank(rank);
    const int64_t part = shape[axis];
    if (size == PartialShape::kUnknown || part == PartialShape::kUnknown) {
      size = PartialShape::kUnknown;
    } else if (__builtin_add_overflow(size, part, &size)) {
      throw InvalidArgument("the sizes along axis {} add up to more than fits", axis);
    }
    shape.set_dim(axis, PartialShape::kUnknown);
    result = result.MergeWith(shape);
  }
  result.set_dim(axis, size);
  c.set_output(0, std::move(result));
}

void ConcatOffsetShape(ShapeContext& c) {
  c.InputOfRank(0, 0);
  for (int i = 1; i < c.num_inputs(); ++i) c.set_output(i - 1, c.InputOfRank(i, 1));
}

void SetSplitShapes(ShapeContext& c, const PartialShape& value, std::optional<int64_t> axis_value,
                    const std::function<int64_t(int, int64_t)>& size_of_part) {
  PartialShape shape = value;
  if (!shape.rank_known()) return;
  if (shape.rank() == 0) throw InvalidArgument("cannot split a scalar");
  if (!axis_value) shape = PartialShape::UnknownOfRank(shape.rank());
  const int axis = axis_value ? shapes::NormalizeAxis(*axis_value, shape.rank()) : -1;
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (axis >= 0) shape.set_dim(axis, size_of_part(i, value[axis]));
    c.set_output(i, shape);
  }
}

void SplitShape(ShapeContext& c) {
  const int64_t num = c.num_outputs();
  SetSplitShapes(c, c.input(1), c.InputInt(0), [num](int, int64_t size) -> int64_t {
    if (size == PartialShape::kUnknown) return size;
    if (size % num != 0) {
      throw InvalidArgument("a dimension of size {} cannot be split into {} equal parts", size,
                            num);
    }
    return size / num;
  });
}

void SplitVShape(ShapeContext& c) {
  const auto sizes = c.InputInts(1);
  const bool one_part = c.num_outputs() == 1;
  if (sizes && static_cast<int>(sizes->size()) != c.num_outputs()) {
    throw InvalidArgument("{} sizes for {} parts", sizes->size(), c.num_outputs());
  }
  SetSplitShapes(c, c.input(0), c.InputInt(2), [&](int part, int64_t size) -> int64_t {
    if (one_part) return size;
    if (!sizes) return PartialShape::kUnknown;
    if ((*sizes)[part] >= 0) return (*sizes)[part];
    if (size == PartialShape::kUnknown) return size;
    for (int64_t other : *sizes) size -= std::max<int64_t>(other, 0);
    return size >= 0 ? size : PartialShape::kUnknown;  // the kernel says what is wrong
  });
}

// Each value's gradient is its part of the whole.
void SetConcatGradients(GradientContext& c, int first_value, int axis_input) {
  const int count = c.num_inputs() - 1;
  const Output grad = c.grad(), axis = c.input(axis_input);
  std::vector<Output> values;
  for (int i = 0; i < count; ++i) values.push_back(c.input(first_value + i));
  const auto axis_value = ConstantValue(axis);
  std::vector<int64_t> sizes;
  for (int i = 0; axis_value && i < count; ++i) {
    const PartialShape& shape = values[i].shape();
    if (!shape.rank_known()) break;
    const int64_t size = shape[shapes::NormalizeAxis(axis_value->AsInt64(), shape.rank())];
    if (size == PartialShape::kUnknown) break;
    sizes.push_back(size);
  }
  if (static_cast<int>(sizes.size()) == count) {
    const auto parts = Split(grad, sizes, axis_value->AsInt64());
    for (int i = 0; i < count; ++i) c.set(first_value + i, parts[i]);
    return;
  }
  const auto shapes = ShapeN(values);
  const Output narrow_axis =
      axis.dtype() == DType::kInt32
          ? axis
          : OpBuilder("Cast").Input(axis).Attr("DstT", DType::kInt32).Build();
  const auto offsets = ConcatOffset(narrow_axis, shapes);
  for (int i = 0; i < count; ++i) {
    c.set(first_value + i, Slice(grad, offsets[i], shapes[i]));
  }
}

std::vector<Output> OutputGradients(GradientContext& c) {
  std::vector<Output> grads;
  for (int i = 0; i < c.num_outputs(); ++i) grads.push_back(c.grad(i));
  return grads;
}

}  // namespace

Output Concat(const std::vector<Output>& values, const IndexArg& axis) {
  if (values.size() == 1) return Identity(values[0]);
  return OpBuilder("ConcatV2").Input(values).Input(axis.ToOutput()).Build();
}
std::vector<Output> ConcatOffset(Output axis, const std::vector<Output>& shapes) {
  if (shapes.size() == 1) return {OpBuilder("ZerosLike").Input(shapes[0]).Build()};
  return OpBuilder("ConcatOffset").Input(axis).Input(shapes).BuildAll();
}
std::vector<Output> Split(Output x, int64_t num, const IndexArg& axis) {
  return OpBuilder("Split").Input(axis.ToOutput()).Input(x).Attr("num_split", num).BuildAll();
}
std::vector<Output> Split(Output x, const std::vector<int64_t>& sizes, const IndexArg& axis) {
  return OpBuilder("SplitV")
      .Input(x)
      .Input(ConstInts(sizes, DType::kInt64))
      .Input(axis.ToOutput())
      .Attr("num_split", static_cast<int64_t>(sizes.size()))
      .BuildAll();
}

void RegisterConcatSplit(OpRegistry& registry) {
  registry.Add(OpDef("Concat")
                   .Inputs("concat_dim:int32, values:N*T")
                   .Outputs("output:T")
                   .Attrs("N:int>=2; T:type")
                   .Doc("The values one after another along dimension concat_dim.")
                   .Shape([](ShapeContext& c) { ConcatShapeOf(c, 1, 0); })
                   .Gradient([](GradientContext& c) { SetConcatGradients(c, 1, 0); }));
  registry.Add(
      OpDef("ConcatV2")
          .Inputs("values:N*T, axis:Tidx")
          .Outputs("output:T")
          .Attrs("N:int>=2; T:type; Tidx:type=int32 in [int32,int64]")
          .Doc("The values one after another along dimension axis.")
          .Shape([](ShapeContext& c) { ConcatShapeOf(c, 0, c.num_inputs() - 1); })
          .Gradient([](GradientContext& c) { SetConcatGradients(c, 0, c.num_inputs() - 1); }));
  registry.Add(OpDef("ConcatOffset")
                   .Inputs("concat_dim:int32, shape:N*shape_type")
                   .Outputs("offset:N*shape_type")
                   .Attrs("N:int>=2; shape_type:type=int32 in [int32,int64]")
                   .Doc("Where each of the tensors of these shapes starts in the tensor that "
                        "joining them along concat_dim gives.")
                   .Shape(ConcatOffsetShape)
                   .NotDifferentiable("integer result"));
  registry.Add(
      OpDef("Split")
          .Inputs("split_dim:int32, value:T")
          .Outputs("output:num_split*T")
          .Attrs("num_split:int>=1; T:type")
          .Doc("The num_split equal parts of value along dimension split_dim.")
          .Shape(SplitShape)
          .Gradient([](GradientContext& c) { c.set(1, Concat(OutputGradients(c), c.input(0))); }));
  registry.Add(
      OpDef("SplitV")
          .Inputs("value:T, size_splits:Tlen, split_dim:int32")
          .Outputs("output:num_split*T")
          .Attrs("num_split:int>=1; T:type; Tlen:type=int64 in [int8,int32,int64]")
          .Doc("Parts of value along dimension split_dim of the sizes size_splits, one of "
               "which may be -1: what is left.")
          .Shape(SplitVShape)
          .Gradient([](GradientContext& c) { c.set(0, Concat(OutputGradients(c), c.input(2))); }));
}

}  // namespace sextant
