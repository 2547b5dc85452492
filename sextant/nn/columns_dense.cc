#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/column.h"
#include "sextant/nn/partition_scope.h"
#include "sextant/ops/array/one_hot.h"
#include "sextant/ops/array/search_sorted.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/range.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/sparse/sparse_to_dense.h"

namespace sextant::columns {
namespace {

int64_t Product(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (const int64_t size : shape) product *= size;
  return product;
}

class NumericColumn : public Column {
 public:
  NumericColumn(std::string key, NumericOptions options)
      : key_(std::move(key)), options_(std::move(options)) {
    for (const int64_t size : options_.shape) {
      if (size < 1) throw InvalidArgument("numeric column '{}': sizes must be positive", key_);
    }
    const size_t defaults = options_.default_value.size();
    if (defaults > 1 && defaults != static_cast<size_t>(width())) {
      throw InvalidArgument("numeric column '{}': {} default values for {} numbers", key_, defaults,
                            width());
    }
  }
  const std::string& name() const override { return key_; }
  bool dense() const override { return true; }
  int64_t width() const final { return Product(options_.shape); }
  const std::vector<int64_t>& shape() const { return options_.shape; }

  void AddToParseSpec(ParseSpec& spec) const override {
    ParseFeature feature{.key = key_,
                         .dtype = IsFloating(options_.dtype) ? DType::kFloat : DType::kInt64,
                         .shape = options_.shape};
    const std::vector<float>& given = options_.default_value;
    if (!given.empty()) {
      Tensor value(feature.dtype, Shape(options_.shape));
      for (int64_t i = 0; i < value.num_elements(); ++i) {
        const float element = given[given.size() == 1 ? 0 : static_cast<size_t>(i)];
        if (feature.dtype == DType::kFloat) {
          value.data<float>()[i] = element;
        } else {
          value.data<int64_t>()[i] = static_cast<int64_t>(element);
        }
      }
      feature.default_value = value;
    }
    AddParseFeature(spec, std::move(feature));
  }

  Output MakeDense(const Features& features, const InputLayerOptions&) const override {
    const NameScope scope(key_);
    const Features::Value& value = features.Get(key_);
    if (!std::holds_alternative<Output>(value)) {
      throw InvalidArgument("numeric column '{}' needs a dense feature, it is sparse", key_);
    }
    Output x = std::get<Output>(value);
    if (x.dtype() == DType::kString) {
      throw InvalidArgument("numeric column '{}' needs numbers, feature {} holds strings", key_,
                            x.name());
    }
    if (x.dtype() != DType::kFloat) x = Cast(x, DType::kFloat);
    if (options_.normalizer) x = options_.normalizer(x);
    if (x.shape().rank_known() && x.shape().rank() == 2 && x.shape()[1] == width()) return x;
    return Reshape(x, {-1, width()});
  }

 private:
  const std::string key_;
  const NumericOptions options_;
};

// A number's bucket: ids, and one-hot as a dense column. Element j of a vector has buckets of its
// own.
class BucketizedColumn : public Column {
 public:
  BucketizedColumn(FeatureColumn source, std::vector<float> boundaries)
      : source_(std::move(source)),
        boundaries_(std::move(boundaries)),
        name_(source_.name() + "_bucketized") {
    if (dynamic_cast<const NumericColumn*>(source_.column().get()) == nullptr) {
      throw InvalidArgument("columns::Bucketized needs a numeric column, '{}' is not one",
                            source_.name());
    }
    if (boundaries_.empty()) throw InvalidArgument("column '{}' needs boundaries", name_);
    for (size_t i = 1; i < boundaries_.size(); ++i) {
      if (boundaries_[i] <= boundaries_[i - 1]) {
        throw InvalidArgument("column '{}': boundaries must increase, {} follows {}", name_,
                              boundaries_[i], boundaries_[i - 1]);
      }
    }
  }
  const std::string& name() const override { return name_; }
  void AddToParseSpec(ParseSpec& spec) const override { source_->AddToParseSpec(spec); }
  bool categorical() const override { return true; }
  bool dense() const override { return true; }
  int64_t num_ids() const override { return buckets() * source_->width(); }
  int64_t width() const override { return num_ids(); }

  Ids MakeIds(const Features& features) const override {
    const NameScope scope(name_);
    Output ids = Cast(BucketsOf(features), DType::kInt64);
    const int64_t n = source_->width();
    Ids result;
    if (n == 1) {
      result.single = ids;
      result.may_miss = false;
      return result;
    }
    ids = ids +
          Range(Const(Tensor(int64_t{0})), Const(Tensor(n * buckets())), Const(Tensor(buckets())));
    result.sparse = WithoutMissing(ids, Const(Tensor(int64_t{-1})));
    return result;
  }
  Output MakeDense(const Features& features, const InputLayerOptions&) const override {
    const NameScope scope(name_);
    return Reshape(OneHot(BucketsOf(features), buckets()), {-1, width()});
  }

 private:
  int64_t buckets() const { return static_cast<int64_t>(boundaries_.size()) + 1; }
  Output BucketsOf(const Features& features) const {
    return Bucketize(source_->MakeDense(features, {}), boundaries_);
  }
  const FeatureColumn source_;
  const std::vector<float> boundaries_;
  const std::string name_;
};

class IndicatorColumn : public Column {
 public:
  explicit IndicatorColumn(FeatureColumn ids)
      : ids_(std::move(ids)), name_(ids_.name() + "_indicator") {
    CheckCategorical(ids_, "columns::Indicator");
  }
  const std::string& name() const override { return name_; }
  void AddToParseSpec(ParseSpec& spec) const override { ids_->AddToParseSpec(spec); }
  bool dense() const override { return true; }
  int64_t width() const override { return ids_->num_ids(); }
  Output MakeDense(const Features& features, const InputLayerOptions&) const override {
    const NameScope scope(name_);
    const Ids ids = ids_->MakeIds(features);
    if (ids.is_single()) return OneHot(Reshape(ids.single, {-1}), width());
    const Output matrix =
        SparseToDense(ids.sparse, Const(Tensor(int64_t{-1})), {.validate_indices = false});
    Output hot = OneHot(matrix, width());
    if (ids.weights) {
      const SparseTensor weights{ids.sparse.indices, ids.weights, ids.sparse.dense_shape};
      hot = hot * ExpandDims(SparseToDense(weights, ScalarLike(0, ids.weights),
                                           {.validate_indices = false}),
                             -1);
    }
    return Reshape(Sum(hot, 1), {-1, width()});
  }

 private:
  const FeatureColumn ids_;
  const std::string name_;
};

class EmbeddingColumn : public Column {
 public:
  EmbeddingColumn(FeatureColumn ids, EmbeddingOptions options, std::string name, std::string scope)
      : ids_(std::move(ids)),
        options_(std::move(options)),
        name_(std::move(name)),
        scope_(std::move(scope)) {
    CheckCategorical(ids_, "columns::Embedding");
    CheckCombiner(options_.combiner);
    if (options_.dimension < 1) {
      throw InvalidArgument("embedding column '{}' needs a positive dimension, got {}", name_,
                            options_.dimension);
    }
  }
  const std::string& name() const override { return name_; }
  void AddToParseSpec(ParseSpec& spec) const override { ids_->AddToParseSpec(spec); }
  bool dense() const override { return true; }
  int64_t width() const override { return options_.dimension; }
  std::string VariableScopeName() const override { return scope_; }
  Output MakeDense(const Features& features, const InputLayerOptions& options) const override {
    const Ids ids = ids_->MakeIds(features);
    const double stddev = 1 / std::sqrt(static_cast<double>(options_.dimension));
    const VariableSpec spec{.shape = {ids_->num_ids(), options_.dimension},
                            .initializer = options_.initializer
                                               ? options_.initializer
                                               : initializers::TruncatedNormal(0, stddev),
                            .trainable = options_.trainable && options.trainable};
    const PartitionedVariable table = GetParts("embedding_weights", spec, options.partitioner);
    const NameScope scope(name_ + "_weights");
    return LookUp(table, ids, options_.combiner, options_.max_norm);
  }

 private:
  const FeatureColumn ids_;
  const EmbeddingOptions options_;
  const std::string name_, scope_;
};

}  // namespace

FeatureColumn Numeric(const std::string& key, const NumericOptions& options) {
  return FeatureColumn(std::make_shared<NumericColumn>(key, options));
}
FeatureColumn Bucketized(const FeatureColumn& numeric, std::vector<float> boundaries) {
  return FeatureColumn(std::make_shared<BucketizedColumn>(numeric, std::move(boundaries)));
}
FeatureColumn Indicator(const FeatureColumn& categorical) {
  return FeatureColumn(std::make_shared<IndicatorColumn>(categorical));
}
FeatureColumn Embedding(const FeatureColumn& categorical, const EmbeddingOptions& options) {
  const std::string name = categorical.name() + "_embedding";
  return FeatureColumn(std::make_shared<EmbeddingColumn>(categorical, options, name, name));
}

std::vector<FeatureColumn> SharedEmbedding(const std::vector<FeatureColumn>& categorical,
                                           const EmbeddingOptions& options,
                                           const std::string& table_name) {
  std::vector<std::string> names;
  for (const FeatureColumn& column : categorical) {
    CheckCategorical(column, "columns::SharedEmbedding");
    names.push_back(column.name());
    if (column->num_ids() != categorical[0]->num_ids()) {
      throw InvalidArgument(
          "columns that share an embedding need equally many ids: '{}' has {}, '{}' {}",
          categorical[0].name(), categorical[0]->num_ids(), column.name(), column->num_ids());
    }
  }
  std::sort(names.begin(), names.end());
  const std::string scope =
      table_name.empty() ? fmt::format("{}_shared_embedding", fmt::join(names, "_")) : table_name;
  std::vector<FeatureColumn> columns;
  for (const FeatureColumn& column : categorical) {
    columns.emplace_back(std::make_shared<EmbeddingColumn>(
        column, options, column.name() + "_shared_embedding", scope));
  }
  return columns;
}

}  // namespace sextant::columns
