#include "sextant/ops/sparse/sparse_to_dense.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/range.h"
#include "sextant/ops/math/reduce.h"

namespace sextant {
namespace {

bool HasRank(Output x, int rank) { return x.shape().rank_known() && x.shape().rank() == rank; }

void SparseToDenseGradient(GradientContext& c) {
  Output indices = c.input(0);
  if (!HasRank(indices, 2)) {
    const Output depth = Size(c.input(1));
    indices = Reshape(indices, Concat({ConstInts({-1}), Reshape(depth, {1})}, 0));
  }
  const Output picked = GatherNd(c.grad(), indices);
  const Output values = c.input(2);
  if (HasRank(values, 1)) {
    c.set(2, picked);
  } else {
    // One value that went everywhere gets the sum: the axes are [0] for a scalar, [] for a vector.
    const Output one = Const(Tensor(int32_t{1}));
    c.set(2, Sum(picked, Range(Rank(values), one, one)));
  }
  if (c.wanted(3)) c.set(3, Sub(Sum(c.grad(), AllAxes(c.grad())), Sum(picked, {0})));
}

}  // namespace

Output SparseToDense(Output indices, const IndexArg& output_shape, Output values,
                     Output default_value, const SparseToDenseOptions& options) {
  return OpBuilder("SparseToDense")
      .Input(indices)
      .Input(output_shape.ToVector(indices.dtype()))
      .Input(values)
      .Input(default_value)
      .Attr("validate_indices", options.validate_indices)
      .Build();
}
Output SparseToDense(const SparseTensor& sparse, Output default_value,
                     const SparseToDenseOptions& options) {
  return SparseToDense(sparse.indices, sparse.dense_shape, sparse.values, default_value, options);
}

void RegisterSparseToDense(OpRegistry& registry) {
  registry.Add(OpDef("SparseToDense")
                   .Inputs("sparse_indices:Tindices, output_shape:Tindices, sparse_values:T, "
                           "default_value:T")
                   .Outputs("dense:T")
                   .Attrs("validate_indices:bool=True; T:type; Tindices:type in [int32,int64]")
                   .Doc("A tensor of the given shape filled with default_value, with sparse_values "
                        "put at sparse_indices.")
                   .Shape([](ShapeContext& c) {
                     c.InputOfRank(1, 1);
                     c.InputOfRank(3, 0);
                     c.set_output(0, c.InputAsShape(1));
                   })
                   .Gradient(SparseToDenseGradient));
}

}  // namespace sextant
