#include "sextant/ops/parsing/sequence_parsing.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/parsing/output_shapes.h"

namespace sextant {
namespace {

using Types = std::vector<DType>;
using Shapes = std::vector<PartialShape>;
using Strings = std::vector<std::string>;

// Numbers of features and lists, checked against the lengths of the lists of types and shapes.
struct Counts {
  explicit Counts(ShapeContext& c)
      : context_sparse(Int(c, "Ncontext_sparse")),
        list_sparse(Int(c, "Nfeature_list_sparse")),
        list_dense(Int(c, "Nfeature_list_dense")) {
    CheckCount("context_sparse_types", c.attr<Types>("context_sparse_types").size(),
               context_sparse);
    CheckCount("context_dense_shapes", c.attr<Shapes>("context_dense_shapes").size(),
               c.attr<Types>("Tcontext_dense").size());
    CheckCount("feature_list_sparse_types", c.attr<Types>("feature_list_sparse_types").size(),
               list_sparse);
    CheckCount("feature_list_dense_types", c.attr<Types>("feature_list_dense_types").size(),
               list_dense);
    CheckCount("feature_list_dense_shapes", c.attr<Shapes>("feature_list_dense_shapes").size(),
               list_dense);
  }
  static size_t Int(ShapeContext& c, const char* name) {
    return static_cast<size_t>(c.attr<int64_t>(name));
  }
  size_t context_sparse, list_sparse, list_dense;
};

void AddContext(ShapeContext& c, const Counts& counts, const PartialShape& serialized,
                OutputShapes* outputs) {
  outputs->AddSparse(counts.context_sparse, serialized.rank() + 1);
  outputs->AddDense(serialized, c.attr<Shapes>("context_dense_shapes"));
}

void AddLists(ShapeContext& c, const Counts& counts, const PartialShape& serialized,
              OutputShapes* outputs) {
  outputs->AddSparse(counts.list_sparse, serialized.rank() + 2);
  PartialShape rows = serialized;
  rows.Append(PartialShape::kUnknown);
  outputs->AddDense(rows, c.attr<Shapes>("feature_list_dense_shapes"));
}

void ParseSequenceShape(ShapeContext& c) {
  const Counts counts(c);
  CheckCount("context_dense_keys", c.attr<Strings>("context_dense_keys").size(),
             c.attr<Types>("Tcontext_dense").size());
  CheckCount("Ncontext_dense", Counts::Int(c, "Ncontext_dense"),
             c.attr<Types>("Tcontext_dense").size());
  CheckCount("context_sparse_keys", c.attr<Strings>("context_sparse_keys").size(),
             counts.context_sparse);
  CheckCount("feature_list_sparse_keys", c.attr<Strings>("feature_list_sparse_keys").size(),
             counts.list_sparse);
  CheckCount("feature_list_dense_keys", c.attr<Strings>("feature_list_dense_keys").size(),
             counts.list_dense);
  const PartialShape& serialized = SerializedShape(c);
  if (!serialized.rank_known()) return shapes::Unknown(c);
  OutputShapes outputs(c);
  AddContext(c, counts, serialized, &outputs);
  AddLists(c, counts, serialized, &outputs);
  outputs.Add(counts.list_dense, serialized);
}

void ParseSequenceV2Shape(ShapeContext& c) {
  const Counts counts(c);
  const size_t context_ragged = c.attr<Types>("context_ragged_value_types").size();
  const size_t list_ragged = c.attr<Types>("feature_list_ragged_value_types").size();
  CheckCount("context_ragged_split_types", c.attr<Types>("context_ragged_split_types").size(),
             context_ragged);
  CheckCount("feature_list_ragged_split_types",
             c.attr<Types>("feature_list_ragged_split_types").size(), list_ragged);
  const PartialShape& serialized = SerializedShape(c);
  if (!serialized.rank_known()) return shapes::Unknown(c);
  PartialShape splits = serialized;
  if (splits.rank() == 1 && splits[0] != PartialShape::kUnknown) splits.set_dim(0, splits[0] + 1);
  OutputShapes outputs(c);
  AddContext(c, counts, serialized, &outputs);
  outputs.Add(context_ragged, {PartialShape::kUnknown});
  outputs.Add(context_ragged, splits);
  AddLists(c, counts, serialized, &outputs);
  outputs.Add(counts.list_dense, serialized);
  outputs.Add(list_ragged, {PartialShape::kUnknown});
  outputs.Add(list_ragged, splits);
  outputs.Add(list_ragged, {PartialShape::kUnknown});
}

void ParseSingleSequenceShape(ShapeContext& c) {
  const Counts counts(c);
  CheckCount("Ncontext_dense", Counts::Int(c, "Ncontext_dense"),
             c.attr<Types>("Tcontext_dense").size());
  const PartialShape serialized = c.InputOfRank(0, 0);
  OutputShapes outputs(c);
  AddContext(c, counts, serialized, &outputs);
  AddLists(c, counts, serialized, &outputs);
}

template <typename Features>
Output KeyVector(const Features& features) {
  return Const(Tensor::FromVector<std::string>(KeysOf(features)));
}
template <typename Features>
std::vector<Output> KeyScalars(const Features& features) {
  std::vector<Output> keys;
  for (const auto& feature : features) keys.push_back(Const(Tensor(feature.key)));
  return keys;
}
template <typename Features, typename T, typename Value>
std::vector<T> Collect(const Features& features, T Value::*member) {
  std::vector<T> values;
  for (const auto& feature : features) values.push_back(feature.*member);
  return values;
}

// Takes the outputs in turn.
class Taker {
 public:
  explicit Taker(std::vector<Output> outputs) : outputs_(std::move(outputs)) {}
  std::vector<Output> Take(size_t count) {
    const auto begin = outputs_.begin() + static_cast<int64_t>(next_);
    next_ += count;
    return {begin, begin + static_cast<int64_t>(count)};
  }
  std::vector<SparseTensor> TakeSparse(size_t count) {
    const std::vector<Output> indices = Take(count), values = Take(count), shapes = Take(count);
    std::vector<SparseTensor> sparse;
    for (size_t i = 0; i < count; ++i) sparse.push_back({indices[i], values[i], shapes[i]});
    return sparse;
  }

 private:
  std::vector<Output> outputs_;
  size_t next_ = 0;
};

// The attributes that all three ops have.
OpBuilder& AddAttrs(OpBuilder& builder, const SequenceSpecs& specs) {
  const auto count = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  Types dense_types;
  for (const DenseFeature& f : specs.context.dense) dense_types.push_back(f.default_value.dtype());
  return builder.Attr("Ncontext_sparse", count(specs.context.sparse))
      .Attr("Nfeature_list_sparse", count(specs.sparse_lists))
      .Attr("Nfeature_list_dense", count(specs.dense_lists))
      .Attr("Tcontext_dense", dense_types)
      .Attr("context_sparse_types", Collect(specs.context.sparse, &SparseFeature::dtype))
      .Attr("context_dense_shapes", Collect(specs.context.dense, &DenseFeature::shape))
      .Attr("feature_list_sparse_types", Collect(specs.sparse_lists, &SparseFeature::dtype))
      .Attr("feature_list_dense_types", Collect(specs.dense_lists, &DenseListFeature::dtype))
      .Attr("feature_list_dense_shapes", Collect(specs.dense_lists, &DenseListFeature::shape));
}

}  // namespace

ParsedSequences ParseSequenceExample(Output serialized, const SequenceSpecs& specs) {
  const auto& ragged = specs.context.ragged;
  OpBuilder builder("ParseSequenceExampleV2");
  builder.Input(serialized)
      .Input(Const(Tensor(DType::kString, Shape{0})))
      .Input(KeyVector(specs.context.sparse))
      .Input(KeyVector(specs.context.dense))
      .Input(KeyVector(ragged))
      .Input(KeyVector(specs.sparse_lists))
      .Input(KeyVector(specs.dense_lists))
      .Input(KeyVector(specs.ragged_lists))
      .Input(Const(Tensor::FromVector(Collect(specs.dense_lists, &DenseListFeature::may_miss))))
      .Input(Collect(specs.context.dense, &DenseFeature::default_value))
      .Attr("context_ragged_value_types", Collect(ragged, &RaggedFeature::dtype))
      .Attr("context_ragged_split_types", Collect(ragged, &RaggedFeature::split_type))
      .Attr("feature_list_ragged_value_types", Collect(specs.ragged_lists, &RaggedFeature::dtype))
      .Attr("feature_list_ragged_split_types",
            Collect(specs.ragged_lists, &RaggedFeature::split_type));
  Taker outputs(AddAttrs(builder, specs).BuildAll());
  ParsedSequences parsed;
  parsed.context.sparse = outputs.TakeSparse(specs.context.sparse.size());
  parsed.context.dense = outputs.Take(specs.context.dense.size());
  const auto context_values = outputs.Take(ragged.size()), splits = outputs.Take(ragged.size());
  for (size_t i = 0; i < ragged.size(); ++i) {
    parsed.context.ragged.push_back({context_values[i], splits[i]});
  }
  parsed.sparse_lists = outputs.TakeSparse(specs.sparse_lists.size());
  parsed.dense_lists = outputs.Take(specs.dense_lists.size());
  parsed.dense_lengths = outputs.Take(specs.dense_lists.size());
  const size_t lists = specs.ragged_lists.size();
  const auto values = outputs.Take(lists), outer = outputs.Take(lists), inner = outputs.Take(lists);
  for (size_t i = 0; i < lists; ++i) {
    parsed.ragged_lists.push_back({values[i], outer[i], inner[i]});
  }
  return parsed;
}

ParsedSequences ParseSingleSequenceExample(Output serialized, const SequenceSpecs& specs) {
  if (!specs.context.ragged.empty() || !specs.ragged_lists.empty()) {
    throw InvalidArgument("ParseSingleSequenceExample has no ragged features");
  }
  Strings may_miss;
  for (const DenseListFeature& f : specs.dense_lists) {
    if (f.may_miss) may_miss.push_back(f.key);
  }
  OpBuilder builder("ParseSingleSequenceExample");
  builder.Input(serialized)
      .Input(Const(Tensor::FromVector<std::string>(may_miss)))
      .Input(KeyScalars(specs.context.sparse))
      .Input(KeyScalars(specs.context.dense))
      .Input(KeyScalars(specs.sparse_lists))
      .Input(KeyScalars(specs.dense_lists))
      .Input(Collect(specs.context.dense, &DenseFeature::default_value))
      .Input(Const(Tensor("")));
  Taker outputs(AddAttrs(builder, specs).BuildAll());
  ParsedSequences parsed;
  parsed.context.sparse = outputs.TakeSparse(specs.context.sparse.size());
  parsed.context.dense = outputs.Take(specs.context.dense.size());
  parsed.sparse_lists = outputs.TakeSparse(specs.sparse_lists.size());
  parsed.dense_lists = outputs.Take(specs.dense_lists.size());
  return parsed;
}

namespace {

OpDef ParseSequenceExampleDef() {
  return OpDef("ParseSequenceExample")
      .Inputs("serialized:string, debug_name:string, context_dense_defaults:Tcontext_dense")
      .Outputs(
          "context_sparse_indices:Ncontext_sparse*int64, "
          "context_sparse_values:context_sparse_types, "
          "context_sparse_shapes:Ncontext_sparse*int64, "
          "context_dense_values:Tcontext_dense, "
          "feature_list_sparse_indices:Nfeature_list_sparse*int64, "
          "feature_list_sparse_values:feature_list_sparse_types, "
          "feature_list_sparse_shapes:Nfeature_list_sparse*int64, "
          "feature_list_dense_values:feature_list_dense_types, "
          "feature_list_dense_lengths:Nfeature_list_dense*int64")
      .Attrs(
          "feature_list_dense_missing_assumed_empty:list(string)>=0; "
          "context_sparse_keys:list(string)>=0; context_dense_keys:list(string)>=0; "
          "feature_list_sparse_keys:list(string)>=0; "
          "feature_list_dense_keys:list(string)>=0; Ncontext_sparse:int=0>=0; "
          "Ncontext_dense:int=0>=0; Nfeature_list_sparse:int=0>=0; "
          "Nfeature_list_dense:int=0>=0; "
          "context_sparse_types:list(type)=[]>=0 in [float,int64,string]; "
          "Tcontext_dense:list(type)=[]>=0 in [float,int64,string]; "
          "feature_list_dense_types:list(type)=[]>=0 in [float,int64,string]; "
          "context_dense_shapes:list(shape)=[]>=0; "
          "feature_list_sparse_types:list(type)=[]>=0 in [float,int64,string]; "
          "feature_list_dense_shapes:list(shape)=[]>=0")
      .Doc(
          "The context and the feature lists of serialized SequenceExamples, as dense or sparse "
          "tensors; keys are attributes.")
      .Shape(ParseSequenceShape)
      .NotDifferentiable("the input is text");
}

OpDef ParseSequenceExampleV2Def() {
  return OpDef("ParseSequenceExampleV2")
      .Inputs(
          "serialized:string, debug_name:string, context_sparse_keys:string, "
          "context_dense_keys:string, context_ragged_keys:string, "
          "feature_list_sparse_keys:string, feature_list_dense_keys:string, "
          "feature_list_ragged_keys:string, "
          "feature_list_dense_missing_assumed_empty:bool, "
          "context_dense_defaults:Tcontext_dense")
      .Outputs(
          "context_sparse_indices:Ncontext_sparse*int64, "
          "context_sparse_values:context_sparse_types, "
          "context_sparse_shapes:Ncontext_sparse*int64, "
          "context_dense_values:Tcontext_dense, "
          "context_ragged_values:context_ragged_value_types, "
          "context_ragged_row_splits:context_ragged_split_types, "
          "feature_list_sparse_indices:Nfeature_list_sparse*int64, "
          "feature_list_sparse_values:feature_list_sparse_types, "
          "feature_list_sparse_shapes:Nfeature_list_sparse*int64, "
          "feature_list_dense_values:feature_list_dense_types, "
          "feature_list_dense_lengths:Nfeature_list_dense*int64, "
          "feature_list_ragged_values:feature_list_ragged_value_types, "
          "feature_list_ragged_outer_splits:feature_list_ragged_split_types, "
          "feature_list_ragged_inner_splits:feature_list_ragged_split_types")
      .Attrs(
          "Ncontext_sparse:int=0>=0; "
          "Tcontext_dense:list(type)=[]>=0 in [float,int64,string]; "
          "context_sparse_types:list(type)=[]>=0 in [float,int64,string]; "
          "context_ragged_value_types:list(type)=[]>=0 in [float,int64,string]; "
          "context_ragged_split_types:list(type)=[]>=0 in [int32,int64]; "
          "context_dense_shapes:list(shape)=[]>=0; Nfeature_list_sparse:int=0>=0; "
          "Nfeature_list_dense:int=0>=0; "
          "feature_list_dense_types:list(type)=[]>=0 in [float,int64,string]; "
          "feature_list_sparse_types:list(type)=[]>=0 in [float,int64,string]; "
          "feature_list_ragged_value_types:list(type)=[]>=0 in [float,int64,string]; "
          "feature_list_ragged_split_types:list(type)=[]>=0 in [int32,int64]; "
          "feature_list_dense_shapes:list(shape)=[]>=0")
      .Doc(
          "The context and the feature lists of serialized SequenceExamples, as dense, sparse or "
          "ragged tensors; keys are inputs.")
      .Shape(ParseSequenceV2Shape)
      .NotDifferentiable("the input is text");
}

OpDef ParseSingleSequenceExampleDef() {
  return OpDef("ParseSingleSequenceExample")
      .Inputs(
          "serialized:string, feature_list_dense_missing_assumed_empty:string, "
          "context_sparse_keys:Ncontext_sparse*string, "
          "context_dense_keys:Ncontext_dense*string, "
          "feature_list_sparse_keys:Nfeature_list_sparse*string, "
          "feature_list_dense_keys:Nfeature_list_dense*string, "
          "context_dense_defaults:Tcontext_dense, debug_name:string")
      .Outputs(
          "context_sparse_indices:Ncontext_sparse*int64, "
          "context_sparse_values:context_sparse_types, "
          "context_sparse_shapes:Ncontext_sparse*int64, "
          "context_dense_values:Tcontext_dense, "
          "feature_list_sparse_indices:Nfeature_list_sparse*int64, "
          "feature_list_sparse_values:feature_list_sparse_types, "
          "feature_list_sparse_shapes:Nfeature_list_sparse*int64, "
          "feature_list_dense_values:feature_list_dense_types")
      .Attrs(
          "Ncontext_sparse:int=0>=0; Ncontext_dense:int=0>=0; "
          "Nfeature_list_sparse:int=0>=0; Nfeature_list_dense:int=0>=0; "
          "context_sparse_types:list(type)=[]>=0 in [float,int64,string]; "
          "Tcontext_dense:list(type)=[]>=0 in [float,int64,string]; "
          "feature_list_dense_types:list(type)=[]>=0 in [float,int64,string]; "
          "context_dense_shapes:list(shape)=[]>=0; "
          "feature_list_sparse_types:list(type)=[]>=0 in [float,int64,string]; "
          "feature_list_dense_shapes:list(shape)=[]>=0")
      .Doc("The context and the feature lists of one serialized SequenceExample.")
      .Shape(ParseSingleSequenceShape)
      .NotDifferentiable("the input is text");
}

}  // namespace

void RegisterSequenceParsing(OpRegistry& registry) {
  registry.Add(ParseSequenceExampleDef());
  registry.Add(ParseSequenceExampleV2Def());
  registry.Add(ParseSingleSequenceExampleDef());
}

}  // namespace sextant
