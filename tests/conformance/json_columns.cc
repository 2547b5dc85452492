#include "tests/conformance/json_columns.h"

#include <nlohmann/json.hpp>

#include "sextant/base/error.h"

namespace sextant::conformance {
namespace {

using columns::FeatureColumn;
using nlohmann::json;

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
  if (d.contains("hash_key") && !d["hash_key"].is_null()) hash_key = d["hash_key"].get<int64_t>();
  return columns::Crossed(std::move(keys), d.at("hash_bucket_size"), hash_key);
}

FeatureColumn Embedding(const json& d) {
  columns::EmbeddingOptions options{.dimension = d.at("dimension"),
                                    .combiner = d.value("combiner", "mean")};
  if (d.contains("max_norm") && !d["max_norm"].is_null())
    options.max_norm = d["max_norm"].get<float>();
  return columns::Embedding(ColumnFromJson(d.at("categorical_column")), options);
}

}  // namespace

FeatureColumn ColumnFromJson(const json& d) {
  const std::string kind = d.at("kind");
  if (kind == "numeric_column") return columns::Numeric(d.at("key"));
  if (kind == "bucketized_column") {
    return columns::Bucketized(ColumnFromJson(d.at("source")),
                               d.at("boundaries").get<std::vector<float>>());
  }
  if (kind == "categorical_column_with_vocabulary_list") {
    return columns::VocabularyList(d.at("key"), d.at("vocabulary").get<std::vector<std::string>>(),
                                   {.default_value = d.value("default_value", int64_t{-1}),
                                    .num_oov_buckets = d.value("num_oov_buckets", int64_t{0})});
  }
  if (kind == "categorical_column_with_hash_bucket") {
    return columns::HashBucket(d.at("key"), d.at("hash_bucket_size"));
  }
  if (kind == "categorical_column_with_identity") {
    return columns::Identity(d.at("key"), d.at("num_buckets"));
  }
  if (kind == "crossed_column") return Crossed(d);
  if (kind == "indicator_column")
    return columns::Indicator(ColumnFromJson(d.at("categorical_column")));
  if (kind == "embedding_column") return Embedding(d);
  throw InvalidArgument("no feature column is of kind '{}'", kind);
}

std::vector<FeatureColumn> ColumnsFromJson(const json& descriptions) {
  std::vector<FeatureColumn> columns;
  for (const json& description : descriptions) columns.push_back(ColumnFromJson(description));
  return columns;
}

}  // namespace sextant::conformance
