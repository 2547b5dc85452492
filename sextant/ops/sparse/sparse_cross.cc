#include "sextant/ops/sparse/sparse_cross.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void CrossShape(ShapeContext& c) {
  c.set_output(0, {PartialShape::kUnknown, 2});
  c.set_output(1, {PartialShape::kUnknown});
  c.set_output(2, {2});
}

OpBuilder WithColumns(const char* op, const CrossColumns& columns) {
  std::vector<Output> indices, values, shapes;
  std::vector<DType> sparse_types, dense_types;
  for (const SparseTensor& s : columns.sparse) {
    indices.push_back(s.indices);
    values.push_back(s.values);
    shapes.push_back(s.dense_shape);
    sparse_types.push_back(s.values.dtype());
  }
  for (const Output& dense : columns.dense) dense_types.push_back(dense.dtype());
  OpBuilder builder(op);
  builder.Input(indices).Input(values).Input(shapes).Input(columns.dense);
  builder.Attr("N", static_cast<int64_t>(columns.sparse.size()));
  builder.Attr("sparse_types", sparse_types).Attr("dense_types", dense_types);
  return builder;
}

SparseTensor Built(OpBuilder& builder) {
  const std::vector<Output> outputs = builder.BuildAll();
  return {outputs[0], outputs[1], outputs[2]};
}

}  // namespace

SparseTensor SparseCrossHash(const CrossColumns& columns, const SparseCrossOptions& options) {
  return Built(WithColumns("SparseCross", columns)
                   .Attr("hashed_output", true)
                   .Attr("num_buckets", options.num_buckets)
                   .Attr("hash_key", options.hash_key)
                   .Attr("out_type", DType::kInt64)
                   .Attr("internal_type", DType::kInt64));
}
SparseTensor SparseCrossText(const CrossColumns& columns) {
  return Built(WithColumns("SparseCross", columns)
                   .Attr("hashed_output", false)
                   .Attr("num_buckets", 0)
                   .Attr("hash_key", SparseCrossOptions().hash_key)
                   .Attr("out_type", DType::kString)
                   .Attr("internal_type", DType::kInt64));
}
SparseTensor SparseCrossHashed(const CrossColumns& columns, Output num_buckets,
                               const SparseCrossHashedOptions& options) {
  return Built(WithColumns("SparseCrossHashed", columns)
                   .Input(num_buckets)
                   .Input(Const(Tensor(options.strong_hash)))
                   .Input(Const(Tensor::Of<int64_t>({options.salt[0], options.salt[1]}))));
}
SparseTensor SparseCrossV2(const CrossColumns& columns, Output separator) {
  return Built(WithColumns("SparseCrossV2", columns).Input(separator));
}

void RegisterSparseCross(OpRegistry& registry) {
  const std::string inputs =
      "indices:N*int64, values:sparse_types, shapes:N*int64, dense_inputs:dense_types";
  const std::string types =
      "sparse_types:list(type)>=0 in [int64,string]; dense_types:list(type)>=0 in [int64,string]";
  const char* const reason = "features are integers and strings";
  registry.Add(OpDef("SparseCross")
                   .Inputs(inputs)
                   .Outputs("output_indices:int64, output_values:out_type, output_shape:int64")
                   .Attrs("N:int>=0; hashed_output:bool; num_buckets:int>=0; hash_key:int; " +
                          types +
                          "; out_type:type in [int64,string]; "
                          "internal_type:type in [int64,string]")
                   .Doc("All combinations of one feature per column, for each row of the batch: as "
                        "hashes when out_type is int64, else joined by \"_X_\".")
                   .Shape(CrossShape)
                   .NotDifferentiable(reason));
  registry.Add(OpDef("SparseCrossHashed")
                   .Inputs(inputs + ", num_buckets:int64, strong_hash:bool, salt:int64")
                   .Outputs("output_indices:int64, output_values:int64, output_shape:int64")
                   .Attrs("N:int>=0; " + types)
                   .Doc("Hashes of all combinations of one feature per column, for each row of the "
                        "batch. Only with strong_hash the salt has an effect.")
                   .Shape(CrossShape)
                   .NotDifferentiable(reason));
  registry.Add(OpDef("SparseCrossV2")
                   .Inputs(inputs + ", sep:string")
                   .Outputs("output_indices:int64, output_values:string, output_shape:int64")
                   .Attrs("N:int>=0; " + types)
                   .Doc("All combinations of one feature per column, for each row of the batch, "
                        "joined by sep.")
                   .Shape(CrossShape)
                   .NotDifferentiable(reason));
}

}  // namespace sextant
