#include "sextant/ops/sparse/sparse_rows.h"

#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void FillShape(ShapeContext& c) {
  const PartialShape indices = c.InputOfRank(0, 2);
  const PartialShape values = c.InputOfRank(1, 1);
  const PartialShape shape = c.InputOfRank(2, 1);
  c.InputOfRank(3, 0);
  const int64_t count = PartialShape{indices[0]}.MergeWith(values)[0];
  const int64_t rank = PartialShape{indices[1]}.MergeWith(shape)[0];
  const PartialShape dense = c.InputAsShape(2);
  const bool rows_known = dense.rank_known() && dense.rank() > 0;
  c.set_output(0, {PartialShape::kUnknown, rank});
  c.set_output(1, {PartialShape::kUnknown});
  c.set_output(2, {rows_known ? dense[0] : PartialShape::kUnknown});
  c.set_output(3, {count});
}

void FillGradient(GradientContext& c) {
  const std::vector<Output> grads =
      OpBuilder("SparseFillEmptyRowsGrad").Input(c.output(3)).Input(c.grad(1)).BuildAll();
  c.set(1, grads[0]);
  c.set(3, grads[1]);
}

}  // namespace

FilledRows SparseFillEmptyRows(const SparseTensor& sparse, Output default_value) {
  const std::vector<Output> outputs = OpBuilder("SparseFillEmptyRows")
                                          .Input(sparse.indices)
                                          .Input(sparse.values)
                                          .Input(sparse.dense_shape)
                                          .Input(default_value)
                                          .BuildAll();
  return {{outputs[0], outputs[1], sparse.dense_shape}, outputs[2], outputs[3]};
}

void RegisterSparseRows(OpRegistry& registry) {
  registry.Add(OpDef("SparseFillEmptyRows")
                   .Inputs("indices:int64, values:T, dense_shape:int64, default_value:T")
                   .Outputs("output_indices:int64, output_values:T, empty_row_indicator:bool, "
                            "reverse_index_map:int64")
                   .Attrs("T:type")
                   .Doc("The entries grouped by row, with default_value at the start of each row "
                        "that has none.")
                   .Shape(FillShape)
                   .Gradient(FillGradient));
  registry.Add(
      OpDef("SparseFillEmptyRowsGrad")
          .Inputs("reverse_index_map:int64, grad_values:T")
          .Outputs("d_values:T, d_default_value:T")
          .Attrs("T:type")
          .Doc("Gradient of SparseFillEmptyRows: that of the entries, and the sum over the "
               "places filled with the default value.")
          .Shape([](ShapeContext& c) {
            c.InputOfRank(1, 1);
            c.set_output(0, c.InputOfRank(0, 1));
            c.set_output(1, Shape());
          })
          .NotDifferentiable("TensorFlow defines no second derivative"));
}

}  // namespace sextant
