#include "sextant/ops/parsing/example_parsing.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/parsing/output_shapes.h"

namespace sextant {
namespace {

using Types = std::vector<DType>;
using Shapes = std::vector<PartialShape>;

// Of all three ops: num_sparse sparse features, then dense ones.
void CheckAttrs(ShapeContext& c, size_t num_sparse) {
  CheckCount("sparse_types", c.attr<Types>("sparse_types").size(), num_sparse);
  CheckCount("dense_shapes", c.attr<Shapes>("dense_shapes").size(), c.attr<Types>("Tdense").size());
}

void ParseExampleShape(ShapeContext& c) {
  const auto num_sparse = static_cast<size_t>(c.attr<int64_t>("Nsparse"));
  CheckAttrs(c, num_sparse);
  CheckCount("dense_keys", static_cast<size_t>(c.attr<int64_t>("Ndense")),
             c.attr<Types>("Tdense").size());
  const PartialShape serialized = c.InputOfRank(0, 1);
  c.InputOfRank(1, 1);
  OutputShapes outputs(c);
  outputs.AddSparse(num_sparse, 2);
  outputs.AddDense(serialized, c.attr<Shapes>("dense_shapes"));
}

void ParseExampleV2Shape(ShapeContext& c) {
  const auto num_sparse = static_cast<size_t>(c.attr<int64_t>("num_sparse"));
  CheckAttrs(c, num_sparse);
  const size_t num_ragged = c.attr<Types>("ragged_value_types").size();
  CheckCount("ragged_split_types", c.attr<Types>("ragged_split_types").size(), num_ragged);
  for (int i = 2; i < 5; ++i) c.InputOfRank(i, 1);
  const PartialShape& serialized = SerializedShape(c);
  if (!serialized.rank_known()) return shapes::Unknown(c);
  const bool batch = serialized.rank() == 1;
  OutputShapes outputs(c);
  outputs.AddSparse(num_sparse, batch ? 2 : 1);
  outputs.AddDense(serialized, c.attr<Shapes>("dense_shapes"));
  outputs.Add(num_ragged, {PartialShape::kUnknown});
  const int64_t size = batch ? serialized[0] : 0;
  outputs.Add(num_ragged, {!batch                           ? 0
                           : size == PartialShape::kUnknown ? PartialShape::kUnknown
                                                            : size + 1});
}

void ParseSingleExampleShape(ShapeContext& c) {
  const auto num_sparse = static_cast<size_t>(c.attr<int64_t>("num_sparse"));
  CheckAttrs(c, num_sparse);
  CheckCount("sparse_keys", c.attr<std::vector<std::string>>("sparse_keys").size(), num_sparse);
  CheckCount("dense_keys", c.attr<std::vector<std::string>>("dense_keys").size(),
             c.attr<Types>("Tdense").size());
  const PartialShape serialized = c.InputOfRank(0, 0);
  OutputShapes outputs(c);
  outputs.AddSparse(num_sparse, 1);
  outputs.AddDense(serialized, c.attr<Shapes>("dense_shapes"));
}

// What both builders give to their ops.
struct Lists {
  explicit Lists(const FeatureSpecs& features) {
    for (const SparseFeature& f : features.sparse) sparse_types.push_back(f.dtype);
    for (const DenseFeature& f : features.dense) {
      dense_types.push_back(f.default_value.dtype());
      dense_shapes.push_back(f.shape);
      defaults.push_back(f.default_value);
    }
    for (const RaggedFeature& f : features.ragged) {
      ragged_types.push_back(f.dtype);
      split_types.push_back(f.split_type);
    }
  }
  Types sparse_types, dense_types, ragged_types, split_types;
  Shapes dense_shapes;
  std::vector<Output> defaults;
};

ParsedFeatures Sorted(const std::vector<Output>& outputs, const FeatureSpecs& features) {
  const size_t sparse = features.sparse.size(), dense = features.dense.size(),
               ragged = features.ragged.size();
  ParsedFeatures parsed;
  for (size_t i = 0; i < sparse; ++i) {
    parsed.sparse.push_back({outputs[i], outputs[sparse + i], outputs[2 * sparse + i]});
  }
  const size_t rest = 3 * sparse + dense;
  parsed.dense.assign(outputs.begin() + static_cast<int64_t>(3 * sparse),
                      outputs.begin() + static_cast<int64_t>(rest));
  for (size_t i = 0; i < ragged; ++i) {
    parsed.ragged.push_back({outputs[rest + i], outputs[rest + ragged + i]});
  }
  return parsed;
}

}  // namespace

ParsedFeatures ParseExample(Output serialized, const FeatureSpecs& features) {
  const Lists lists(features);
  const auto keys = [](const auto& list) {
    return Const(Tensor::FromVector<std::string>(KeysOf(list)));
  };
  return Sorted(OpBuilder("ParseExampleV2")
                    .Input(serialized)
                    .Input(Const(Tensor(DType::kString, Shape{0})))
                    .Input(keys(features.sparse))
                    .Input(keys(features.dense))
                    .Input(keys(features.ragged))
                    .Input(lists.defaults)
                    .Attr("Tdense", lists.dense_types)
                    .Attr("num_sparse", static_cast<int64_t>(features.sparse.size()))
                    .Attr("sparse_types", lists.sparse_types)
                    .Attr("ragged_value_types", lists.ragged_types)
                    .Attr("ragged_split_types", lists.split_types)
                    .Attr("dense_shapes", lists.dense_shapes)
                    .BuildAll(),
                features);
}

ParsedFeatures ParseSingleExample(Output serialized, const FeatureSpecs& features) {
  if (!features.ragged.empty()) {
    throw InvalidArgument("ParseSingleExample has no ragged features, got {}",
                          features.ragged.size());
  }
  const Lists lists(features);
  return Sorted(OpBuilder("ParseSingleExample")
                    .Input(serialized)
                    .Input(lists.defaults)
                    .Attr("Tdense", lists.dense_types)
                    .Attr("num_sparse", static_cast<int64_t>(features.sparse.size()))
                    .Attr("sparse_keys", KeysOf(features.sparse))
                    .Attr("dense_keys", KeysOf(features.dense))
                    .Attr("sparse_types", lists.sparse_types)
                    .Attr("dense_shapes", lists.dense_shapes)
                    .BuildAll(),
                features);
}

void RegisterExampleParsing(OpRegistry& registry) {
  const char* const kReason = "the input is text";
  registry.Add(
      OpDef("ParseExample")
          .Inputs("serialized:string, names:string, sparse_keys:Nsparse*string, "
                  "dense_keys:Ndense*string, dense_defaults:Tdense")
          .Outputs("sparse_indices:Nsparse*int64, sparse_values:sparse_types, "
                   "sparse_shapes:Nsparse*int64, dense_values:Tdense")
          .Attrs("Nsparse:int>=0; Ndense:int>=0; "
                 "sparse_types:list(type)>=0 in [float,int64,string]; "
                 "Tdense:list(type)>=0 in [float,int64,string]; dense_shapes:list(shape)>=0")
          .Doc("The features of a vector of serialized Examples: each as a dense tensor, missing "
               "ones replaced by their default, or as a sparse one.")
          .Shape(ParseExampleShape)
          .NotDifferentiable(kReason));
  registry.Add(
      OpDef("ParseExampleV2")
          .Inputs("serialized:string, names:string, sparse_keys:string, dense_keys:string, "
                  "ragged_keys:string, dense_defaults:Tdense")
          .Outputs("sparse_indices:num_sparse*int64, sparse_values:sparse_types, "
                   "sparse_shapes:num_sparse*int64, dense_values:Tdense, "
                   "ragged_values:ragged_value_types, ragged_row_splits:ragged_split_types")
          .Attrs("Tdense:list(type)>=0 in [float,int64,string]; num_sparse:int>=0; "
                 "sparse_types:list(type)>=0 in [float,int64,string]; "
                 "ragged_value_types:list(type)>=0 in [float,int64,string]; "
                 "ragged_split_types:list(type)>=0 in [int32,int64]; "
                 "dense_shapes:list(shape)>=0")
          .Doc("The features of one serialized Example or of a vector of them, as dense, sparse "
               "or ragged tensors.")
          .Shape(ParseExampleV2Shape)
          .NotDifferentiable(kReason));
  registry.Add(
      OpDef("ParseSingleExample")
          .Inputs("serialized:string, dense_defaults:Tdense")
          .Outputs("sparse_indices:num_sparse*int64, sparse_values:sparse_types, "
                   "sparse_shapes:num_sparse*int64, dense_values:Tdense")
          .Attrs("num_sparse:int>=0; sparse_keys:list(string)>=0; dense_keys:list(string)>=0; "
                 "sparse_types:list(type)>=0 in [float,int64,string]; "
                 "Tdense:list(type)>=0 in [float,int64,string]; dense_shapes:list(shape)>=0")
          .Doc("The features of one serialized Example, as dense or sparse tensors.")
          .Shape(ParseSingleExampleShape)
          .NotDifferentiable(kReason));
}

}  // namespace sextant
