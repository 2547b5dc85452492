#include "sextant/ops/sparse/sparse_slice.h"

#include <string>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/state/number_types.h"

namespace sextant {
namespace {

void SliceShape(ShapeContext& c) {
  const PartialShape indices = c.InputOfRank(0, 2);
  c.InputOfRank(1, 1);
  PartialShape rank{indices[1]};
  for (int i = 2; i < 5; ++i) rank = rank.MergeWith(c.InputOfRank(i, 1));
  c.set_output(0, {PartialShape::kUnknown, rank[0]});
  c.set_output(1, {PartialShape::kUnknown});
  c.set_output(2, rank);
}

void SliceGradShape(ShapeContext& c) {
  c.InputOfRank(0, 1);
  c.InputOfRank(2, 1);
  c.InputOfRank(3, 2);
  c.set_output(0, {c.InputOfRank(1, 2)[0]});
}

void ConcatShape(ShapeContext& c) {
  const int count = static_cast<int>(c.attr<int64_t>("N"));
  int64_t entries = 0;
  PartialShape rank{PartialShape::kUnknown};
  for (int i = 0; i < count; ++i) {
    const PartialShape indices = c.InputOfRank(i, 2);
    const int64_t more = PartialShape{indices[0]}.MergeWith(c.InputOfRank(count + i, 1))[0];
    entries = entries == PartialShape::kUnknown || more == PartialShape::kUnknown
                  ? PartialShape::kUnknown
                  : entries + more;
    rank = rank.MergeWith(PartialShape{indices[1]}).MergeWith(c.InputOfRank(2 * count + i, 1));
  }
  c.set_output(0, {entries, rank[0]});
  c.set_output(1, {entries});
  c.set_output(2, rank);
}

void SplitShape(ShapeContext& c) {
  const int64_t rank = PartialShape{c.InputOfRank(1, 2)[1]}.MergeWith(c.InputOfRank(3, 1))[0];
  const int parts = static_cast<int>(c.attr<int64_t>("num_split"));
  for (int i = 0; i < parts; ++i) {
    c.set_output(i, {PartialShape::kUnknown, rank});
    c.set_output(parts + i, {PartialShape::kUnknown});
    c.set_output(2 * parts + i, {rank});
  }
}

void SliceGradient(GradientContext& c) {
  c.set(1, OpBuilder("SparseSliceGrad")
               .Input(c.grad(1))
               .Input(c.input(0))
               .Input(c.input(3))
               .Input(c.output(0))
               .Build());
}

}  // namespace

SparseTensor SparseSlice(const SparseTensor& sparse, const IndexArg& start, const IndexArg& size) {
  const std::vector<Output> outputs = OpBuilder("SparseSlice")
                                          .Input(sparse.indices)
                                          .Input(sparse.values)
                                          .Input(sparse.dense_shape)
                                          .Input(start.ToVector(DType::kInt64))
                                          .Input(size.ToVector(DType::kInt64))
                                          .BuildAll();
  return {outputs[0], outputs[1], outputs[2]};
}
SparseTensor SparseConcat(const std::vector<SparseTensor>& sparse, int64_t axis) {
  std::vector<Output> indices, values, shapes;
  for (const SparseTensor& s : sparse) {
    indices.push_back(s.indices);
    values.push_back(s.values);
    shapes.push_back(s.dense_shape);
  }
  const std::vector<Output> outputs = OpBuilder("SparseConcat")
                                          .Input(indices)
                                          .Input(values)
                                          .Input(shapes)
                                          .Attr("concat_dim", axis)
                                          .BuildAll();
  return {outputs[0], outputs[1], outputs[2]};
}
std::vector<SparseTensor> SparseSplit(const SparseTensor& sparse, int64_t num,
                                      const IndexArg& axis) {
  const std::vector<Output> outputs = OpBuilder("SparseSplit")
                                          .Input(axis.ToOutput(DType::kInt64))
                                          .Input(sparse.indices)
                                          .Input(sparse.values)
                                          .Input(sparse.dense_shape)
                                          .Attr("num_split", num)
                                          .BuildAll();
  std::vector<SparseTensor> parts;
  for (int64_t i = 0; i < num; ++i) {
    parts.push_back({outputs[i], outputs[num + i], outputs[2 * num + i]});
  }
  return parts;
}

void RegisterSparseSlice(OpRegistry& registry) {
  registry.Add(
      OpDef("SparseSlice")
          .Inputs("indices:int64, values:T, shape:int64, start:int64, size:int64")
          .Outputs("output_indices:int64, output_values:T, output_shape:int64")
          .Attrs("T:type")
          .Doc("The entries in the box of the given size at start, with indices that count "
               "from start.")
          .Shape(SliceShape)
          .Gradient(SliceGradient));
  registry.Add(OpDef("SparseSliceGrad")
                   .Inputs("backprop_val_grad:T, input_indices:int64, input_start:int64, "
                           "output_indices:int64")
                   .Outputs("val_grad:T")
                   .Attrs(std::string("T:type in [") + kNumberTypes + "]")
                   .Doc("Gradient of SparseSlice: that of the entries taken, 0 for the others.")
                   .Shape(SliceGradShape)
                   .NotDifferentiable("TensorFlow defines no second derivative"));
  registry.Add(OpDef("SparseConcat")
                   .Inputs("indices:N*int64, values:N*T, shapes:N*int64")
                   .Outputs("output_indices:int64, output_values:T, output_shape:int64")
                   .Attrs("concat_dim:int; N:int>=2; T:type")
                   .Doc("The sparse tensors one after another along concat_dim, entries in "
                        "lexicographic order.")
                   .Shape(ConcatShape)
                   .NotDifferentiable("TensorFlow lets no gradient through"));
  registry.Add(
      OpDef("SparseSplit")
          .Inputs("split_dim:int64, indices:int64, values:T, shape:int64")
          .Outputs("output_indices:num_split*int64, output_values:num_split*T, "
                   "output_shape:num_split*int64")
          .Attrs("num_split:int>=1; T:type")
          .Doc("The sparse tensor cut into num_split parts along split_dim, the first ones "
               "larger by one when the size is not a multiple.")
          .Shape(SplitShape)
          .GradientForbidden("TensorFlow defines none"));
}

}  // namespace sextant
