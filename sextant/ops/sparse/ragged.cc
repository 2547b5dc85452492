#include "sextant/ops/sparse/ragged.h"

#include "sextant/base/error.h"
#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/shape.h"

namespace sextant {
namespace {

void ToSparseShape(ShapeContext& c) {
  const auto levels = c.attr<int64_t>("RAGGED_RANK");
  const PartialShape& values = c.input(c.num_inputs() - 1);
  const int64_t rank = values.rank_known() ? values.rank() + levels : PartialShape::kUnknown;
  const int64_t count = values.num_elements();
  c.set_output(0, PartialShape{count, rank});
  c.set_output(1, PartialShape{count});
  c.set_output(2, PartialShape{rank});
}

void ToSparseGradient(GradientContext& c) {
  const int values = c.num_inputs() - 1;
  c.set(values, Reshape(c.grad(1), ShapeOf(c.input(values))));
}

void ToTensorShape(ShapeContext& c) {
  const PartialShape& values = c.input(1);
  const auto& types = c.attr<std::vector<std::string>>("row_partition_types");
  const bool by_row_ids = !types.empty() && types[0] == "FIRST_DIM_SIZE";
  const int levels = static_cast<int>(types.size()) - (by_row_ids ? 1 : 0);
  PartialShape shape;
  if (values.rank_known() && values.rank() > 0) {
    shape = PartialShape::UnknownOfRank(levels + 1);
    for (int d = 1; d < values.rank(); ++d) shape.Append(values[d]);
  }
  // A scalar -1 says nothing of the shape.
  const PartialShape& given = c.input(0);
  if (given.rank_known() && given.rank() == 1) shape = shape.MergeWith(c.InputAsShape(0));
  c.set_output(0, shape);
}

}  // namespace

SparseTensor RaggedTensorToSparse(const std::vector<Output>& nested_splits, Output values) {
  const auto outputs =
      OpBuilder("RaggedTensorToSparse").Input(nested_splits).Input(values).BuildAll();
  return {outputs[0], outputs[1], outputs[2]};
}
Output RaggedTensorToTensor(Output shape, Output values, Output default_value,
                            const std::vector<Output>& nested_splits) {
  return OpBuilder("RaggedTensorToTensor")
      .Input(shape)
      .Input(values)
      .Input(default_value)
      .Input(nested_splits)
      .Attr("row_partition_types", std::vector<std::string>(nested_splits.size(), "ROW_SPLITS"))
      .Build();
}

void RegisterRagged(OpRegistry& registry) {
  registry.Add(OpDef("RaggedTensorToSparse")
                   .Inputs("rt_nested_splits:RAGGED_RANK*Tsplits, rt_dense_values:T")
                   .Outputs("sparse_indices:int64, sparse_values:T, sparse_dense_shape:int64")
                   .Attrs("RAGGED_RANK:int>=1; T:type; Tsplits:type=int64 in [int32,int64]")
                   .Doc("The sparse tensor with the elements of a ragged one.")
                   .Shape(ToSparseShape)
                   .Gradient(ToSparseGradient));
  registry.Add(
      OpDef("RaggedTensorToTensor")
          .Inputs("shape:Tshape, values:T, default_value:T, "
                  "row_partition_tensors:num_row_partition_tensors*Tindex")
          .Outputs("result:T")
          .Attrs("T:type; Tindex:type in [int64,int32]; Tshape:type in [int64,int32]; "
                 "num_row_partition_tensors:int>=1; row_partition_types:list(string)")
          .Doc("A dense tensor with the rows of a ragged one, filled up or cut to one length.")
          .Shape(ToTensorShape)
          .GradientForbidden("the gradient of RaggedTensorToTensor is not available"));
}

}  // namespace sextant
