#include "sextant/ops/array/gather.h"

#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/scatter.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/strided_slice.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/math/elementwise_build.h"

namespace sextant {
namespace {

void GatherShape(ShapeContext& c) {
  const PartialShape params = c.InputOfRankAtLeast(0, 1);
  const PartialShape& indices = c.input(1);
  if (!params.rank_known() || !indices.rank_known()) return c.set_output(0, PartialShape());
  PartialShape shape = indices;
  for (int d = 1; d < params.rank(); ++d) shape.Append(params[d]);
  c.set_output(0, std::move(shape));
}

void GatherV2Shape(ShapeContext& c) {
  const PartialShape params = c.InputOfRankAtLeast(0, 1);
  const PartialShape& indices = c.input(1);
  if (!params.rank_known() || !indices.rank_known()) return c.set_output(0, PartialShape());
  const int64_t batch_attr = c.attr<int64_t>("batch_dims");
  const int64_t batch_dims = batch_attr < 0 ? batch_attr + indices.rank() : batch_attr;
  if (batch_dims < 0 || batch_dims > indices.rank() || batch_dims > params.rank()) {
    throw InvalidArgument("batch_dims {} does not fit indices of rank {} and params of rank {}",
                          batch_attr, indices.rank(), params.rank());
  }
  const auto axis_value = c.InputInt(2);
  const int rank = params.rank() + indices.rank() - 1 - static_cast<int>(batch_dims);
  if (!axis_value) return c.set_output(0, PartialShape::UnknownOfRank(rank));
  const int axis = shapes::NormalizeAxis(*axis_value, params.rank());
  if (axis < batch_dims) {
    throw InvalidArgument("batch_dims {} must be at most axis {}", batch_dims, axis);
  }
  PartialShape shape(std::vector<int64_t>{});
  for (int d = 0; d < axis; ++d) {
    const int64_t other = d < batch_dims ? indices[d] : PartialShape::kUnknown;
    shape.Append(params[d] == PartialShape::kUnknown ? other : params[d]);
  }
  for (int d = static_cast<int>(batch_dims); d < indices.rank(); ++d) shape.Append(indices[d]);
  for (int d = axis + 1; d < params.rank(); ++d) shape.Append(params[d]);
  c.set_output(0, std::move(shape));
}

void GatherNdShape(ShapeContext& c) {
  const PartialShape& params = c.input(0);
  const PartialShape indices = c.InputOfRankAtLeast(1, 1);
  if (!params.rank_known() || !indices.rank_known() ||
      indices[indices.rank() - 1] == PartialShape::kUnknown) {
    return c.set_output(0, PartialShape());
  }
  const int64_t depth = indices[indices.rank() - 1];
  if (depth > params.rank()) {
    throw InvalidArgument("indices {} index {} dimensions of params {}", indices.ToString(), depth,
                          params.ToString());
  }
  PartialShape shape = indices;
  shape.Erase(shape.rank() - 1);
  for (int d = static_cast<int>(depth); d < params.rank(); ++d) shape.Append(params[d]);
  c.set_output(0, std::move(shape));
}

// Rows of params: one per index.
IndexedSlices AxisZeroGradient(GradientContext& c) {
  const Output params_shape = ShapeOf(c.input(0));
  const Output count = Reshape(Size(c.input(1)), {1});
  const Output row = StridedSlice(params_shape, {SliceRange(1, std::nullopt)});
  return {Reshape(c.grad(), Concat({count, row}, 0)), Reshape(c.input(1), count), params_shape};
}

Output Int(int64_t value) { return Const(Tensor(static_cast<int32_t>(value))); }
Output Range(Output begin, Output end) {
  return OpBuilder("Range").Input(begin).Input(end).Input(Int(1)).Build();
}
Output Product(Output x) { return BuildBinary("Prod", x, ConstInts({0})); }
Output Cast(Output x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return OpBuilder("Cast").Input(x).Attr("DstT", dtype).Build();
}

// For any axis: with the gathered dimension brought to the front and the batches numbered, it is
// one sum of rows.
Output GeneralGradient(GradientContext& c, int64_t batch_dims) {
  const Output params = c.input(0), params_shape = ShapeOf(params);
  const Output indices =
      Cast(c.input(1), c.input(1).dtype() == DType::kInt64 ? DType::kInt64 : DType::kInt32);
  const Output rank = Rank(params);
  const Output axis = BuildBinary("FloorMod", Cast(c.input(2), DType::kInt32), rank);
  const Output after_axis = BuildBinary("AddV2", axis, Int(1));
  const auto slice = [&](Output from, Output size) {
    return OpBuilder("Slice")
        .Input(params_shape)
        .Input(Reshape(from, {1}))
        .Input(Reshape(size, {1}))
        .Build();
  };
  const Output batch_shape = slice(Int(0), Int(batch_dims));
  const Output middle_shape = slice(Int(batch_dims), BuildBinary("Sub", axis, Int(batch_dims)));
  const Output axis_size = slice(axis, Int(1));
  const Output inner_shape = slice(after_axis, Int(-1));
  // Sizes are never left to be inferred: -1 does not say how empty an empty tensor is.
  const Output gathered =
      Reshape(Product(StridedSlice(ShapeOf(indices), {SliceRange(batch_dims, std::nullopt)})), {1});
  // grad: [batch, middle, gathered, inner] -> [batch, gathered, middle, inner]
  const Output batches = Range(Int(0), Int(batch_dims));
  const Output middle_axes = Range(Int(batch_dims), axis);
  const Output inner_axes = Range(after_axis, rank);
  const Output values =
      Transpose(Reshape(c.grad(), Concat({batch_shape, middle_shape, gathered, inner_shape}, 0)),
                Concat({batches, Reshape(axis, {1}), middle_axes, inner_axes}, 0));
  const Output row_shape = Concat({middle_shape, inner_shape}, 0);
  const Output batch_count = Product(batch_shape);
  Output rows = Reshape(indices, {-1});
  if (batch_dims > 0) {
    const Output start = BuildBinary("Mul", Range(Int(0), batch_count), Reshape(axis_size, {}));
    const Output per_batch = Reshape(rows, Concat({Reshape(batch_count, {1}), gathered}, 0));
    rows = Reshape(BuildBinary("AddV2", per_batch, Cast(Reshape(start, {-1, 1}), indices.dtype())),
                   {-1});
  }
  const Output flat = Reshape(values, Concat({Reshape(Size(rows), {1}), row_shape}, 0));
  const Output num_rows = BuildBinary("Mul", batch_count, Reshape(axis_size, {}));
  const Output sums =
      OpBuilder("UnsortedSegmentSum").Input(flat).Input(rows).Input(num_rows).Build();
  const Output batched =
      Reshape(sums, Concat({batch_shape, axis_size, middle_shape, inner_shape}, 0));
  // [batch, axis, middle, inner] -> [batch, middle, axis, inner]
  const Output back = Concat(
      {batches, BuildBinary("AddV2", middle_axes, Int(1)), ConstInts({batch_dims}), inner_axes}, 0);
  return Reshape(Transpose(batched, back), params_shape);
}

void GatherV2Gradient(GradientContext& c) {
  int64_t batch_dims = c.attr<int64_t>("batch_dims");
  if (batch_dims < 0) {
    if (!c.input(1).shape().rank_known()) {
      throw InvalidArgument(
          "the gradient of a gather with batch_dims < 0 needs indices of known "
          "rank");
    }
    batch_dims += c.input(1).shape().rank();
  }
  const auto axis = ConstantValue(c.input(2));
  if (axis && axis->AsInt64() == 0 && batch_dims == 0) return c.set(0, AxisZeroGradient(c));
  c.set(0, GeneralGradient(c, batch_dims));
}

void GatherNdGradient(GradientContext& c) {
  const Output params = c.input(0), indices = c.input(1);
  const PartialShape& shape = indices.shape();
  if (shape.rank_known() && shape.rank() == 2 && shape[1] == 1) {
    return c.set(0, IndexedSlices{c.grad(), Squeeze(indices, {-1}), ShapeOf(params)});
  }
  const DType index = indices.dtype();
  c.set(0, ScatterNd(indices, c.grad(), Cast(ShapeOf(params), index)));
}

}  // namespace

Output Gather(Output params, const IndexArg& indices, const GatherOptions& options) {
  return OpBuilder("GatherV2")
      .Input(params)
      .Input(indices.ToOutput())
      .Input(Int(options.axis))
      .Attr("batch_dims", options.batch_dims)
      .Build();
}
Output GatherNd(Output params, Output indices) {
  return OpBuilder("GatherNd").Input(params).Input(indices).Build();
}

void RegisterGather(OpRegistry& registry) {
  registry.Add(OpDef("Gather")
                   .Inputs("params:Tparams, indices:Tindices")
                   .Outputs("output:Tparams")
                   .Attrs("validate_indices:bool=True; Tparams:type; "
                          "Tindices:type in [int32,int64]")
                   .Doc("The rows of params that indices names, in its order and shape.")
                   .Shape(GatherShape)
                   .Gradient([](GradientContext& c) { c.set(0, AxisZeroGradient(c)); }));
  registry.Add(OpDef("GatherV2")
                   .Inputs("params:Tparams, indices:Tindices, axis:Taxis")
                   .Outputs("output:Tparams")
                   .Attrs("batch_dims:int=0; Tparams:type; Tindices:type in [int16,int32,int64]; "
                          "Taxis:type in [int32,int64]")
                   .Doc("The slices of params along axis that indices names. The first batch_dims "
                        "dimensions of params and indices go together.")
                   .Shape(GatherV2Shape)
                   .Gradient(GatherV2Gradient));
  registry.Add(OpDef("GatherNd")
                   .Inputs("params:Tparams, indices:Tindices")
                   .Outputs("output:Tparams")
                   .Attrs("Tparams:type; Tindices:type in [int16,int32,int64]")
                   .Doc("The slices of params at the positions that the last dimension of indices "
                        "holds.")
                   .Shape(GatherNdShape)
                   .Gradient(GatherNdGradient));
}

}  // namespace sextant
