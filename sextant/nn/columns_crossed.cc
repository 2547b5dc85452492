// Columns made of other columns: crosses, and ids that count by weights.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/nn/column.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/sparse/sparse_cross.h"

namespace sextant::columns {
namespace {

class CrossedColumn : public Column {
 public:
  CrossedColumn(std::vector<CrossKey> keys, int64_t buckets, std::optional<int64_t> hash_key)
      : keys_(std::move(keys)), buckets_(buckets), hash_key_(hash_key) {
    for (const CrossKey& key : keys_) {
      if (const auto* column = std::get_if<FeatureColumn>(&key)) {
        CheckCategorical(*column, "columns::Crossed");
      }
    }
    std::vector<std::string> names;
    CollectNames(names);
    if (names.size() < 2) throw InvalidArgument("a crossed column needs at least two keys");
    std::sort(names.begin(), names.end());
    name_ = fmt::format("{}", fmt::join(names, "_X_"));
    if (buckets < 1) throw InvalidArgument("crossed column '{}' needs at least one bucket", name_);
  }
  const std::string& name() const override { return name_; }
  bool categorical() const override { return true; }
  int64_t num_ids() const override { return buckets_; }
  void AddToParseSpec(ParseSpec& spec) const override {
    for (const CrossKey& key : keys_) {
      if (const auto* text = std::get_if<std::string>(&key)) {
        AddParseFeature(spec, {.key = *text, .dtype = DType::kString, .sparse = true});
      } else {
        std::get<FeatureColumn>(key)->AddToParseSpec(spec);
      }
    }
  }

  Ids MakeIds(const Features& features) const override {
    const NameScope scope(name_);
    std::vector<SparseTensor> sparse;    // what TensorFlow crosses first
    std::vector<Output> sparse_singles;  // the same parts where each row has exactly one id
    std::vector<Output> dense;
    bool single = true;
    Collect(features, sparse, sparse_singles, dense, single);
    const SparseCrossOptions options{.num_buckets = buckets_,
                                     .hash_key = hash_key_.value_or(SparseCrossOptions().hash_key)};
    Ids ids;
    if (single) {
      // One value everywhere: one cross in every row. The order of parts is kept, so are the
      // hashes.
      CrossColumns columns{.dense = sparse_singles};
      columns.dense.insert(columns.dense.end(), dense.begin(), dense.end());
      ids.single = Reshape(SparseCrossHash(columns, options).values, {-1, 1});
      ids.may_miss = false;
      return ids;
    }
    ids.sparse = SparseCrossHash({.sparse = sparse, .dense = dense}, options);
    return ids;
  }

 private:
  void CollectNames(std::vector<std::string>& names) const {
    for (const CrossKey& key : keys_) {
      if (const auto* text = std::get_if<std::string>(&key)) {
        names.push_back(*text);
      } else if (const auto* crossed = Nested(key)) {
        crossed->CollectNames(names);
      } else {
        names.push_back(std::get<FeatureColumn>(key).name());
      }
    }
  }
  static const CrossedColumn* Nested(const CrossKey& key) {
    return dynamic_cast<const CrossedColumn*>(std::get<FeatureColumn>(key).column().get());
  }

  void Collect(const Features& features, std::vector<SparseTensor>& sparse,
               std::vector<Output>& sparse_singles, std::vector<Output>& dense,
               bool& single) const {
    for (const CrossKey& key : keys_) {
      if (const auto* text = std::get_if<std::string>(&key)) {
        const Features::Value& value = features.Get(*text);
        if (const auto* tensor = std::get_if<SparseTensor>(&value)) {
          sparse.push_back(*tensor);
          single = false;
          continue;
        }
        Output matrix = AsMatrix(std::get<Output>(value), *text);
        if (matrix.dtype() != DType::kString) matrix = Cast(matrix, DType::kInt64);
        if (matrix.shape()[1] != 1) single = false;
        dense.push_back(matrix);
        continue;
      }
      if (const CrossedColumn* nested = Nested(key)) {
        nested->Collect(features, sparse, sparse_singles, dense, single);
        continue;
      }
      const Ids ids = std::get<FeatureColumn>(key)->MakeIds(features);
      if (ids.is_single() && !ids.may_miss) {
        sparse_singles.push_back(ids.single);
      } else {
        single = false;
      }
      sparse.push_back(AsSparse(ids));
    }
  }

  const std::vector<CrossKey> keys_;
  const int64_t buckets_;
  const std::optional<int64_t> hash_key_;
  std::string name_;
};

class WeightedColumn : public Column {
 public:
  WeightedColumn(FeatureColumn ids, std::string weight_key, DType dtype)
      : ids_(std::move(ids)),
        weight_key_(std::move(weight_key)),
        dtype_(dtype),
        name_(ids_.name() + "_weighted_by_" + weight_key_) {
    CheckCategorical(ids_, "columns::Weighted");
  }
  const std::string& name() const override { return name_; }
  bool categorical() const override { return true; }
  int64_t num_ids() const override { return ids_->num_ids(); }
  void AddToParseSpec(ParseSpec& spec) const override {
    ids_->AddToParseSpec(spec);
    AddParseFeature(spec, {.key = weight_key_, .dtype = dtype_, .sparse = true});
  }
  Ids MakeIds(const Features& features) const override {
    Ids ids = ids_->MakeIds(features);
    const Features::Value& value = features.Get(weight_key_);
    Ids result;
    result.sparse = AsSparse(ids);
    if (const auto* sparse = std::get_if<SparseTensor>(&value)) {
      result.weights = sparse->values;
    } else {
      // Dense weights: those where the ids are.
      const Output matrix = AsMatrix(std::get<Output>(value), weight_key_);
      result.weights = OpBuilder("GatherNd").Input(matrix).Input(result.sparse.indices).Build();
    }
    if (result.weights.dtype() != DType::kFloat)
      result.weights = Cast(result.weights, DType::kFloat);
    return result;
  }

 private:
  const FeatureColumn ids_;
  const std::string weight_key_;
  const DType dtype_;
  const std::string name_;
};

}  // namespace

FeatureColumn Crossed(std::vector<CrossKey> keys, int64_t buckets,
                      std::optional<int64_t> hash_key) {
  return FeatureColumn(std::make_shared<CrossedColumn>(std::move(keys), buckets, hash_key));
}
FeatureColumn Weighted(const FeatureColumn& categorical, const std::string& weight_key,
                       DType dtype) {
  return FeatureColumn(std::make_shared<WeightedColumn>(categorical, weight_key, dtype));
}

}  // namespace sextant::columns
