#include "sextant/ops/sparse/sparse_add.h"

#include <string>
#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/state/number_types.h"

namespace sextant {
namespace {

void AddShape(ShapeContext& c) {
  const PartialShape rank = c.InputOfRank(2, 1).MergeWith(c.InputOfRank(5, 1));
  c.set_output(0, {PartialShape::kUnknown, rank[0]});
  c.set_output(1, {PartialShape::kUnknown});
  c.set_output(2, rank);
}

void AddGradient(GradientContext& c) {
  const std::vector<Output> grads = OpBuilder("SparseAddGrad")
                                        .Input(c.grad(1))
                                        .Input(c.input(0))
                                        .Input(c.input(3))
                                        .Input(c.output(0))
                                        .BuildAll();
  c.set(1, grads[0]);
  c.set(4, grads[1]);
}

void DenseAddGradient(GradientContext& c) {
  if (c.wanted(1)) c.set(1, GatherNd(c.grad(), c.input(0)));
  c.set(3, c.grad());
}

}  // namespace

SparseTensor SparseAdd(const SparseTensor& a, const SparseTensor& b, Output threshold) {
  const std::vector<Output> outputs = OpBuilder("SparseAdd")
                                          .Input(a.indices)
                                          .Input(a.values)
                                          .Input(a.dense_shape)
                                          .Input(b.indices)
                                          .Input(b.values)
                                          .Input(b.dense_shape)
                                          .Input(threshold)
                                          .BuildAll();
  return {outputs[0], outputs[1], outputs[2]};
}
Output SparseTensorDenseAdd(const SparseTensor& a, Output b) {
  return OpBuilder("SparseTensorDenseAdd")
      .Input(a.indices)
      .Input(a.values)
      .Input(a.dense_shape)
      .Input(b)
      .Build();
}

void RegisterSparseAdd(OpRegistry& registry) {
  const std::string number = std::string("T:type in [") + kNumberTypes + "]";
  registry.Add(
      OpDef("SparseAdd")
          .Inputs("a_indices:int64, a_values:T, a_shape:int64, b_indices:int64, "
                  "b_values:T, b_shape:int64, thresh:Treal")
          .Outputs("sum_indices:int64, sum_values:T, sum_shape:int64")
          .Attrs(number + "; Treal:type in [float,double,int32,uint8,int16,int8,int64,"
                          "bfloat16,uint16,half,uint32,uint64]")
          .Doc("Sum of two sparse tensors. Where both have an entry, a sum whose magnitude "
               "is below thresh is left out.")
          .Shape(AddShape)
          .Gradient(AddGradient));
  registry.Add(OpDef("SparseAddGrad")
                   .Inputs("backprop_val_grad:T, a_indices:int64, b_indices:int64, "
                           "sum_indices:int64")
                   .Outputs("a_val_grad:T, b_val_grad:T")
                   .Attrs(number)
                   .Doc("Gradient of SparseAdd: that of the sum's entry at the same place, 0 where "
                        "it was left out.")
                   .Shape([](ShapeContext& c) {
                     c.set_output(0, {c.InputOfRank(1, 2)[0]});
                     c.set_output(1, {c.InputOfRank(2, 2)[0]});
                   })
                   .NotDifferentiable("TensorFlow lets no gradient through"));
  registry.Add(OpDef("SparseTensorDenseAdd")
                   .Inputs("a_indices:Tindices, a_values:T, a_shape:Tindices, b:T")
                   .Outputs("output:T")
                   .Attrs(number + "; Tindices:type in [int32,int64]")
                   .Doc("Sum of a sparse and a dense tensor of the same shape.")
                   .Shape([](ShapeContext& c) { c.set_output(0, c.input(3)); })
                   .Gradient(DenseAddGradient));
}

}  // namespace sextant
