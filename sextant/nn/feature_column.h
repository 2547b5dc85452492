// Feature columns: how raw features become numbers that a model takes. They build only ops that
// TensorFlow runs, and variables by TensorFlow's names.
//
//   auto age = columns::Numeric("age");
//   auto job = columns::HashBucket("occupation", 100);
//   Output x = columns::InputLayer(features, {age, columns::Embedding(job, {.dimension = 8})});
//   Output logits = columns::LinearModel(features, {columns::Bucketized(age, {18, 65}), job});
//
// A FeatureColumn is a small immutable description, usable for several graphs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/nn/features.h"
#include "sextant/nn/get_variable.h"
#include "sextant/nn/initializers.h"
#include "sextant/nn/parse_spec.h"

#pragma GCC visibility push(default)

namespace sextant::columns {

class Column;

class SEXTANT_API FeatureColumn {
 public:
  FeatureColumn() = default;
  explicit FeatureColumn(std::shared_ptr<const Column> column) : column_(std::move(column)) {}
  const std::string& name() const;  // as in the names of variables
  const Column& operator*() const { return *column_; }
  const Column* operator->() const { return column_.get(); }
  const std::shared_ptr<const Column>& column() const { return column_; }

 private:
  std::shared_ptr<const Column> column_;
};

struct SEXTANT_API NumericOptions {
  std::vector<int64_t> shape = {1};
  std::vector<float> default_value = {};  // for Examples without it: of the shape, or one for all
  DType dtype = DType::kFloat;
  std::function<Output(Output)> normalizer = {};
};
FeatureColumn Numeric(const std::string& key, const NumericOptions& options = {});
// Ids 0 … boundaries.size(): how many boundaries are <= the number.
FeatureColumn Bucketized(const FeatureColumn& numeric, std::vector<float> boundaries);

// Categories: each value becomes an id, or none. Empty strings and -1 count as missing.
struct SEXTANT_API VocabularyOptions {
  int64_t default_value = -1;    // the id of words that are not in the list; -1: none
  int64_t num_oov_buckets = 0;   // or: ids behind the list, by hash
  DType dtype = DType::kString;  // or kInt64
};
FeatureColumn VocabularyList(const std::string& key, std::vector<std::string> words,
                             const VocabularyOptions& options = {});
FeatureColumn IntegerVocabularyList(const std::string& key, std::vector<int64_t> values,
                                    const VocabularyOptions& options = {});
// One word a line. The file becomes an asset of exported models. size -1: all its lines.
FeatureColumn VocabularyFile(const std::string& key, const std::string& path, int64_t size = -1,
                             const VocabularyOptions& options = {});
// The integer itself, in [0, buckets); others are an error, or default_value if given.
FeatureColumn Identity(const std::string& key, int64_t buckets,
                       std::optional<int64_t> default_value = {});
FeatureColumn HashBucket(const std::string& key, int64_t buckets, DType dtype = DType::kString);
// Combinations of features: names of raw features, bucketized or categorical columns.
using CrossKey = std::variant<std::string, FeatureColumn>;
FeatureColumn Crossed(std::vector<CrossKey> keys, int64_t buckets,
                      std::optional<int64_t> hash_key = {});
// A categorical column whose ids count by the numbers in another feature.
FeatureColumn Weighted(const FeatureColumn& categorical, const std::string& weight_key,
                       DType dtype = DType::kFloat);

// Dense columns from categories.
FeatureColumn Indicator(const FeatureColumn& categorical);  // counts of ids
struct SEXTANT_API EmbeddingOptions {
  int64_t dimension = 0;
  std::string combiner = "mean";  // sum, sqrtn: of several ids in a row
  Initializer initializer = {};   // default: truncated normal, stddev 1 / sqrt(dimension)
  std::optional<float> max_norm = {};
  bool trainable = true;
};
FeatureColumn Embedding(const FeatureColumn& categorical, const EmbeddingOptions& options);
// One table for several columns of the same number of ids.
std::vector<FeatureColumn> SharedEmbedding(const std::vector<FeatureColumn>& categorical,
                                           const EmbeddingOptions& options,
                                           const std::string& table_name = {});

struct SEXTANT_API InputLayerOptions {
  bool trainable = true;
  Partitioner partitioner = {};  // tables are "…/embedding_weights/part_0" then
  std::string scope = "input_layer";
};
// [batch, sum of widths]: dense columns side by side, sorted by name.
Output InputLayer(const Features& features, const std::vector<FeatureColumn>& columns,
                  const InputLayerOptions& options = {});

struct SEXTANT_API LinearModelOptions {
  int64_t units = 1;
  std::string sparse_combiner = "sum";
  bool trainable = true;
  Partitioner partitioner = {};
  std::string scope = "linear_model";
};
struct SEXTANT_API LinearModelResult {
  Output logits;                                        // [batch, units]
  Output bias;                                          // the variable's value
  std::vector<std::pair<std::string, Output>> weights;  // by column name
};
// sum over columns of weights * column + bias, all zero at first.
LinearModelResult LinearModelParts(const Features& features,
                                   const std::vector<FeatureColumn>& columns,
                                   const LinearModelOptions& options = {});
inline Output LinearModel(const Features& features, const std::vector<FeatureColumn>& columns,
                          const LinearModelOptions& options = {}) {
  return LinearModelParts(features, columns, options).logits;
}

// What ParseExample must extract for these columns.
ParseSpec MakeParseExampleSpec(const std::vector<FeatureColumn>& columns);

}  // namespace sextant::columns

#pragma GCC visibility pop
