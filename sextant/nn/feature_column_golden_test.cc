// Our columns with TensorFlow's variables give what TensorFlow's columns gave.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sextant/base/base64.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/nn/column.h"
#include "sextant/nn/feature_column.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/runtime/session.h"

namespace sextant::columns {
namespace {

using nlohmann::json;

const std::string kModel = SEXTANT_SOURCE_DIR "/../shared/golden/saved_model/feature_columns";

struct NamedColumn {
  std::string name;
  FeatureColumn column;
};

struct Columns {
  std::vector<NamedColumn> single;
  std::vector<FeatureColumn> linear, shared, all;
};

Columns Build(const json& p) {
  const auto price = Numeric("price");
  const auto vector = Numeric("vec", {.shape = {2}, .default_value = {0.5f, -0.5f}});
  const auto norm = Numeric(
      "price2", {.default_value = {1.0f}, .normalizer = [](Output x) { return (x - 3.0) / 2.0; }});
  const auto bucket = Bucketized(price, p.at("bounds").get<std::vector<float>>());
  const auto words = p.at("vocab").get<std::vector<std::string>>();
  const int64_t dim = p.at("dim"), hash = p.at("hash"), buckets = p.at("cross");
  const auto color = VocabularyList("color", words);
  const std::vector<NamedColumn> categorical = {
      {"vocab", color},
      {"vocab_oov", VocabularyList("color", words, {.num_oov_buckets = p.at("oov")})},
      {"vocab_default", VocabularyList("color", words, {.default_value = 1})},
      {"identity", Identity("slot", p.at("ident"), 0)},
      {"hash", HashBucket("word", hash)},
      {"hash_int", HashBucket("slot", hash, DType::kInt64)},
      {"weighted", Weighted(HashBucket("word", hash), "weight")},
      {"cross", Crossed({"color", "word"}, buckets)},
      {"cross_bucket", Crossed({bucket, "color"}, buckets, 3)}};
  Columns columns;
  columns.single = {
      {"numeric", price}, {"numeric_vec", vector}, {"numeric_norm", norm}, {"bucketized", bucket}};
  for (const auto& [name, column] : categorical) {
    columns.single.push_back({name + "_indicator", Indicator(column)});
    for (const char* combiner : {"mean", "sum", "sqrtn"}) {
      columns.single.push_back({name + "_embedding_" + combiner,
                                Embedding(column, {.dimension = dim, .combiner = combiner})});
    }
  }
  columns.single.push_back({"embedding_max_norm", Embedding(categorical[4].column,
                                                            {.dimension = dim, .max_norm = 0.5f})});
  columns.shared = SharedEmbedding({color, VocabularyList("color2", words)}, {.dimension = dim});
  columns.linear = {bucket,
                    color,
                    categorical[3].column,
                    categorical[6].column,
                    categorical[7].column,
                    categorical[8].column,
                    price};
  columns.all = {price, bucket, Indicator(color),
                 Embedding(categorical[4].column, {.dimension = dim}),
                 Indicator(categorical[7].column)};
  return columns;
}

Tensor ExamplesOf(const json& input) {
  std::vector<std::string> values;
  for (const json& value : input.at("values")) {
    std::string bytes;
    if (value.contains("utf8")) {
      bytes = value["utf8"].get<std::string>();
    } else {
      // The alphabet of the golden files is the ordinary one, ours the web-safe one.
      std::string text = value["base64"].get<std::string>();
      std::replace(text.begin(), text.end(), '+', '-');
      std::replace(text.begin(), text.end(), '/', '_');
      DecodeBase64(text, &bytes);
    }
    values.push_back(std::move(bytes));
  }
  return Tensor::FromVector(values);
}

TEST(FeatureColumnGoldenTest, EqualsTensorFlow) {
  if (!FileSystem::ForPath(kModel).Exists(kModel)) GTEST_SKIP() << "needs " << kModel;
  std::ifstream file(kModel + ".answers.json");
  const json answers = json::parse(file);
  const Columns columns = Build(answers.at("params"));

  Graph graph;
  const GraphScope use(graph);
  const Output serialized = Placeholder(DType::kString, PartialShape({-1}), "examples");
  ParseSpec spec;
  for (const NamedColumn& c : columns.single) c.column->AddToParseSpec(spec);
  for (const FeatureColumn& c : columns.shared) c->AddToParseSpec(spec);
  const Features features = ParseExamples(serialized, spec);
  std::map<std::string, Output> outputs;
  for (const NamedColumn& c : columns.single) {
    const VariableScope scope("col_" + c.name);
    outputs[c.name] = InputLayer(features, {c.column});
  }
  {
    const VariableScope scope("shared");
    outputs["shared_embedding"] = InputLayer(features, columns.shared);
  }
  {
    const VariableScope scope("all");
    outputs["all_dense_concatenated"] = InputLayer(features, columns.all);
  }
  for (const std::string combiner : {"sum", "mean", "sqrtn"}) {
    const VariableScope scope("linear_" + combiner);
    outputs["linear_" + combiner] =
        LinearModel(features, columns.linear, {.units = 2, .sparse_combiner = combiner});
  }

  Session session(graph);
  const TensorBundleReader checkpoint(kModel + "/variables/variables");
  for (const Variable& variable : CollectedVariables()) {
    session.Run(variable.Assign(Const(checkpoint.Read(variable.name()))));
  }
  EXPECT_EQ(CollectedVariables().size(), checkpoint.Tensors().size());
  for (const Output& table : graph.Collection("table_initializer")) {
    session.Run(Operation(table.node()));
  }
  int compared = 0;
  for (const json& one : answers.at("signatures").at("serving_default").at("cases")) {
    const Tensor examples = ExamplesOf(one.at("inputs").at("examples"));
    for (const auto& [name, expected] : one.at("outputs").items()) {
      ASSERT_TRUE(outputs.contains(name)) << name;
      const Tensor actual = session.Run({{serialized, examples}}, outputs.at(name));
      ASSERT_EQ(actual.shape(), Shape(expected.at("shape").get<std::vector<int64_t>>())) << name;
      for (int64_t i = 0; i < actual.num_elements(); ++i) {
        const double want = expected.at("values").at(i);
        ASSERT_NEAR(actual.data<float>()[i], want, 1e-5 + 1e-5 * std::abs(want))
            << name << " " << i;
      }
      ++compared;
    }
  }
  EXPECT_EQ(compared, 2 * static_cast<int>(outputs.size()));
}

}  // namespace
}  // namespace sextant::columns
