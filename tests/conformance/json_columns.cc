#include "tests/conformance/json_columns.h"

#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "tests/conformance/json_values.h"

namespace sextant::conformance {
namespace {

using columns::FeatureColumn;
using nlohmann::json;

DType TypeOf(const json& d, DType otherwise) {
  const std::string name = JsonOr<std::string>(d, "dtype", "");
  if (name.empty()) return otherwise;
  if (name == "float32") return DType::kFloat;
  if (name == "float64") return DType::kDouble;
  return DTypeFromName(name);
}

FeatureColumn Numeric(const json& d) {
  columns::NumericOptions options{.dtype = TypeOf(d, DType::kFloat)};
  if (Has(d, "shape")) {
    options.shape = d["shape"].is_array() ? d["shape"].get<std::vector<int64_t>>()
                                          : std::vector<int64_t>{d["shape"].get<int64_t>()};
  }
  if (Has(d, "default_value")) {
    options.default_value = d["default_value"].is_array()
                                ? d["default_value"].get<std::vector<float>>()
                                : std::vector<float>{d["default_value"].get<float>()};
  }
  return columns::Numeric(d.at("key"), options);
}

columns::VocabularyOptions VocabularyOptionsOf(const json& d, DType dtype) {
  return {.default_value = JsonOr<int64_t>(d, "default_value", -1),
          .num_oov_buckets = JsonOr<int64_t>(d, "num_oov_buckets", 0),
          .dtype = dtype};
}

FeatureColumn VocabularyList(const json& d) {
  const json& words = d.at(Has(d, "vocabulary") ? "vocabulary" : "vocabulary_list");
  if (!words.empty() && words[0].is_number()) {
    return columns::IntegerVocabularyList(d.at("key"), words.get<std::vector<int64_t>>(),
                                          VocabularyOptionsOf(d, DType::kInt64));
  }
  return columns::VocabularyList(d.at("key"), words.get<std::vector<std::string>>(),
                                 VocabularyOptionsOf(d, DType::kString));
}

FeatureColumn Crossed(const json& d) {
  std::vector<columns::CrossKey> keys;
  for (const json& key : d.at("keys")) {
    if (key.is_string()) {
      keys.emplace_back(key.get<std::string>());
    } else {
      keys.emplace_back(ColumnFromJson(key));
    }
  }
  std::optional<int64_t> hash_key;
  if (Has(d, "hash_key")) hash_key = d["hash_key"].get<int64_t>();
  return columns::Crossed(std::move(keys), d.at("hash_bucket_size"), hash_key);
}

columns::EmbeddingOptions EmbeddingOptionsOf(const json& d) {
  columns::EmbeddingOptions options{.dimension = d.at("dimension"),
                                    .combiner = JsonOr<std::string>(d, "combiner", "mean"),
                                    .trainable = JsonOr(d, "trainable", true)};
  if (Has(d, "max_norm")) options.max_norm = d["max_norm"].get<float>();
  return options;
}

}  // namespace

FeatureColumn ColumnFromJson(const json& d) {
  const std::string kind = d.at("kind");
  if (kind == "numeric_column") return Numeric(d);
  if (kind == "bucketized_column") {
    return columns::Bucketized(ColumnFromJson(d.at(Has(d, "source") ? "source" : "source_column")),
                               d.at("boundaries").get<std::vector<float>>());
  }
  if (kind == "categorical_column_with_vocabulary_list") return VocabularyList(d);
  if (kind == "categorical_column_with_vocabulary_file") {
    return columns::VocabularyFile(d.at("key"), d.at("vocabulary_file"),
                                   JsonOr<int64_t>(d, "vocabulary_size", -1),
                                   VocabularyOptionsOf(d, DType::kString));
  }
  if (kind == "categorical_column_with_hash_bucket") {
    return columns::HashBucket(d.at("key"), d.at("hash_bucket_size"), TypeOf(d, DType::kString));
  }
  if (kind == "categorical_column_with_identity") {
    std::optional<int64_t> otherwise;
    if (Has(d, "default_value")) otherwise = d["default_value"].get<int64_t>();
    return columns::Identity(d.at("key"), d.at("num_buckets"), otherwise);
  }
  if (kind == "weighted_categorical_column") {
    return columns::Weighted(ColumnFromJson(d.at("categorical_column")), d.at("weight_feature_key"),
                             TypeOf(d, DType::kFloat));
  }
  if (kind == "crossed_column") return Crossed(d);
  if (kind == "indicator_column") {
    return columns::Indicator(ColumnFromJson(d.at("categorical_column")));
  }
  if (kind == "embedding_column") {
    return columns::Embedding(ColumnFromJson(d.at("categorical_column")), EmbeddingOptionsOf(d));
  }
  throw InvalidArgument("no feature column is of kind '{}'", kind);
}

std::vector<FeatureColumn> ColumnsFromJson(const json& descriptions) {
  std::vector<FeatureColumn> all;
  for (const json& d : descriptions) {
    if (d.at("kind").get<std::string>().starts_with("shared_embedding")) {
      const std::vector<FeatureColumn> shared = columns::SharedEmbedding(
          ColumnsFromJson(d.at("categorical_columns")), EmbeddingOptionsOf(d),
          JsonOr<std::string>(d, "shared_embedding_collection_name", ""));
      all.insert(all.end(), shared.begin(), shared.end());
    } else {
      all.push_back(ColumnFromJson(d));
    }
  }
  return all;
}

}  // namespace sextant::conformance
