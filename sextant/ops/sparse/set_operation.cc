#include "sextant/ops/sparse/set_operation.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

const std::string kType = "T:type in [int8,int16,int32,int64,uint8,uint16,string]";

void ResultShape(ShapeContext& c, int64_t rank) {
  c.set_output(0, PartialShape{PartialShape::kUnknown, rank});
  c.set_output(1, PartialShape{PartialShape::kUnknown});
  c.set_output(2, PartialShape{rank});
}

int64_t RankOfDense(ShapeContext& c, int i) {
  const PartialShape& shape = c.input(i);
  return shape.rank_known() ? shape.rank() : PartialShape::kUnknown;
}
int64_t RankOfSparse(ShapeContext& c, int indices) {
  const PartialShape& shape = c.input(indices);
  return shape.rank_known() && shape.rank() == 2 ? shape[1] : PartialShape::kUnknown;
}

SparseTensor Build(OpBuilder builder, std::string_view operation) {
  const auto outputs = builder.Attr("set_operation", std::string(operation)).BuildAll();
  return {outputs[0], outputs[1], outputs[2]};
}

}  // namespace

SparseTensor SetOperation(Output a, Output b, std::string_view operation) {
  return Build(OpBuilder("DenseToDenseSetOperation").Input(a).Input(b), operation);
}
SparseTensor SetOperation(Output a, const SparseTensor& b, std::string_view operation) {
  return Build(OpBuilder("DenseToSparseSetOperation")
                   .Input(a)
                   .Input(b.indices)
                   .Input(b.values)
                   .Input(b.dense_shape),
               operation);
}
SparseTensor SetOperation(const SparseTensor& a, const SparseTensor& b,
                          std::string_view operation) {
  return Build(OpBuilder("SparseToSparseSetOperation")
                   .Input(a.indices)
                   .Input(a.values)
                   .Input(a.dense_shape)
                   .Input(b.indices)
                   .Input(b.values)
                   .Input(b.dense_shape),
               operation);
}
Output SetSize(const SparseTensor& sets) {
  return OpBuilder("SetSize")
      .Input(sets.indices)
      .Input(sets.values)
      .Input(sets.dense_shape)
      .Build();
}

void RegisterSetOperation(OpRegistry& registry) {
  const std::string first = "set1_indices:int64, set1_values:T, set1_shape:int64";
  const std::string second = "set2_indices:int64, set2_values:T, set2_shape:int64";
  const auto add = [&](const char* name, const std::string& inputs, ShapeFunction shape) {
    registry.Add(OpDef(name)
                     .Inputs(inputs)
                     .Outputs("result_indices:int64, result_values:T, result_shape:int64")
                     .Attrs("set_operation:string; validate_indices:bool=True; " + kType)
                     .Doc("Difference, intersection or union of the sets in the last dimension of "
                          "two tensors.")
                     .Shape(std::move(shape))
                     .NotDifferentiable("integers or strings"));
  };
  add("DenseToDenseSetOperation", "set1:T, set2:T", [](ShapeContext& c) {
    const int64_t first_rank = RankOfDense(c, 0);
    ResultShape(c, first_rank >= 0 ? first_rank : RankOfDense(c, 1));
  });
  add("DenseToSparseSetOperation", "set1:T, " + second, [](ShapeContext& c) {
    const int64_t first_rank = RankOfDense(c, 0);
    ResultShape(c, first_rank >= 0 ? first_rank : RankOfSparse(c, 1));
  });
  add("SparseToSparseSetOperation", first + ", " + second, [](ShapeContext& c) {
    const int64_t first_rank = RankOfSparse(c, 0);
    ResultShape(c, first_rank >= 0 ? first_rank : RankOfSparse(c, 3));
  });
  registry.Add(OpDef("SetSize")
                   .Inputs("set_indices:int64, set_values:T, set_shape:int64")
                   .Outputs("size:int32")
                   .Attrs("validate_indices:bool=True; " + kType)
                   .Doc("Number of different elements of the sets in the last dimension.")
                   .Shape([](ShapeContext& c) {
                     PartialShape shape = c.InputAsShape(2);
                     if (shape.rank_known() && shape.rank() > 0) {
                       shape.Erase(shape.rank() - 1);
                       c.set_output(0, shape);
                     }
                   })
                   .NotDifferentiable("integers"));
}

}  // namespace sextant
