// Feature columns on small inputs, worked by hand or, where a comment says so, recorded from
// TensorFlow 2.15; more of what TensorFlow's give is in the golden test.
#include "sextant/nn/feature_column.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant::columns {
namespace {

class FeatureColumnTest : public testing::Test {
 protected:
  using Rows = std::vector<float>;

  void SetUp() override {
    features_.Set("x", Const(Tensor::Of<float>({3, 1}, {-1, 0.5F, 7})));
    features_.Set("pair", Const(Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6})));
    features_.Set("word", Const(Tensor::Of<std::string>({3, 1}, {"a", "c", "z"})));
    features_.Set("id", Const(Tensor::Of<int64_t>({3, 1}, {2, 0, 1})));
    // Row 0 has "a" and "b", row 1 nothing, row 2 "b" twice.
    features_.Set("bag", SparseTensor{Const(Tensor::Of<int64_t>({4, 2}, {0, 0, 0, 1, 2, 0, 2, 1})),
                                      Const(Tensor::Of<std::string>({"a", "b", "b", "b"})),
                                      Const(Tensor::Of<int64_t>({3, 2}))});
    features_.Set(
        "weight",
        SparseTensor{Const(Tensor::Of<int64_t>({4, 2}, {0, 0, 0, 1, 2, 0, 2, 1})),
                     Const(Tensor::Of<float>({1, 3, 2, 4})), Const(Tensor::Of<int64_t>({3, 2}))});
  }

  Rows Run(Output y) {
    Session session(graph_);
    session.Run(GlobalVariablesInitializer());
    InitializeTables(session);
    const Tensor value = session.Run(y);
    return Rows(value.data<float>(), value.data<float>() + value.num_elements());
  }
  void InitializeTables(Session& session) {
    for (const Output& table : graph_.Collection("table_initializer")) {
      session.Run(Operation(table.node()));
    }
  }
  Rows Layer(const FeatureColumn& column) {
    const VariableScope scope("layer" + std::to_string(count_++));
    return Run(InputLayer(features_, {column}));
  }
  // Rows 1 1, 2 2, 3 3, ... of an embedding.
  static Initializer Counting(int64_t rows) {
    std::vector<float> values;
    for (int64_t i = 0; i < 2 * rows; ++i) values.push_back(static_cast<float>(i / 2 + 1));
    return initializers::Value(Tensor::FromVector(values));
  }

  Graph graph_;
  GraphScope scope_{graph_};
  Features features_;
  int count_ = 0;
};

TEST_F(FeatureColumnTest, NumericAndBucketized) {
  EXPECT_EQ(Layer(Numeric("x")), (Rows{-1, 0.5F, 7}));
  EXPECT_EQ(Layer(Numeric("pair", {.shape = {2}})), (Rows{1, 2, 3, 4, 5, 6}));
  features_.Set("flat", Const(Tensor::Of<float>({4, 5, 6})));
  EXPECT_EQ(Layer(Numeric("flat")), (Rows{4, 5, 6}));
  EXPECT_EQ(Layer(Numeric("x", {.normalizer = [](Output x) { return x * 2.0; }})),
            (Rows{-2, 1, 14}));
  EXPECT_EQ(Layer(Bucketized(Numeric("x"), {0, 5})), (Rows{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_THROW(Bucketized(Numeric("x"), {}), Error);
  EXPECT_THROW(Bucketized(Numeric("x"), {2, 1}), Error);
  EXPECT_THROW(Bucketized(VocabularyList("word", {"a"}), {1}), Error);
}

TEST_F(FeatureColumnTest, VocabulariesGiveIdsDefaultsOrNothing) {
  EXPECT_EQ(Layer(Indicator(VocabularyList("word", {"a", "b", "c"}))),
            (Rows{1, 0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(Layer(Indicator(VocabularyList("word", {"a", "b", "c"}, {.default_value = 1}))),
            (Rows{1, 0, 0, 0, 0, 1, 0, 1, 0}));
  const Rows oov = Layer(Indicator(VocabularyList("word", {"a", "c"}, {.num_oov_buckets = 1})));
  EXPECT_EQ(oov, (Rows{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(Layer(Indicator(IntegerVocabularyList("id", {0, 2}))), (Rows{0, 1, 1, 0, 0, 0}));
  EXPECT_THROW(VocabularyList("word", {"a", "a"}), Error);
  EXPECT_THROW(VocabularyList("word", {}), Error);
  EXPECT_THROW(VocabularyList("word", {"a"}, {.default_value = 0, .num_oov_buckets = 1}), Error);
}

TEST_F(FeatureColumnTest, VocabularyFilesAreReadByLine) {
  const std::string path = testing::TempDir() + "/words.txt";
  std::ofstream(path) << "c\na\nb\n";
  EXPECT_EQ(Layer(Indicator(VocabularyFile("word", path))), (Rows{0, 1, 0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(Layer(Indicator(VocabularyFile("word", path, 1))), (Rows{0, 1, 0}));
}

TEST_F(FeatureColumnTest, IdentitiesAreChecked) {
  EXPECT_EQ(Layer(Indicator(Identity("id", 3))), (Rows{0, 0, 1, 1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(Layer(Indicator(Identity("id", 2, 0))), (Rows{1, 0, 1, 0, 0, 1}));
  // As in TensorFlow 2.15: an id outside is no category; a table refuses it.
  EXPECT_EQ(Layer(Indicator(Identity("id", 2))), (Rows{0, 0, 1, 0, 0, 1}));
  EXPECT_THROW(Layer(Embedding(Identity("id", 2), {.dimension = 2})), Error);
  EXPECT_THROW(Identity("id", 0), Error);
  EXPECT_THROW(HashBucket("word", 0), Error);
}

TEST_F(FeatureColumnTest, BagsAreCountedAndCombined) {
  const auto bag = VocabularyList("bag", {"a", "b"});
  EXPECT_EQ(Layer(Indicator(bag)), (Rows{1, 1, 0, 0, 0, 2}));
  const auto embedding = [&](const char* combiner, const FeatureColumn& column) {
    return Layer(
        Embedding(column, {.dimension = 2, .combiner = combiner, .initializer = Counting(2)}));
  };
  EXPECT_EQ(embedding("sum", bag), (Rows{3, 3, 0, 0, 4, 4}));
  EXPECT_EQ(embedding("mean", bag), (Rows{1.5F, 1.5F, 0, 0, 2, 2}));
  const Rows root = embedding("sqrtn", bag);
  EXPECT_NEAR(root[0], 3 / std::sqrt(2.0F), 1e-6F);
  // Weights 1, 3 and 2, 4.
  const auto weighted = Weighted(bag, "weight");
  EXPECT_EQ(Layer(Indicator(weighted)), (Rows{1, 3, 0, 0, 0, 6}));
  EXPECT_EQ(embedding("sum", weighted), (Rows{7, 7, 0, 0, 12, 12}));
  EXPECT_EQ(embedding("mean", weighted), (Rows{1.75F, 1.75F, 0, 0, 2, 2}));
  EXPECT_THROW(Embedding(bag, {}), Error);
  EXPECT_THROW(Embedding(bag, {.dimension = 2, .combiner = "max"}), Error);
  EXPECT_THROW(Weighted(Numeric("x"), "weight"), Error);
}

TEST_F(FeatureColumnTest, SharedTablesAreOneVariable) {
  const auto columns =
      SharedEmbedding({VocabularyList("word", {"a", "c"}), VocabularyList("bag", {"a", "b"})},
                      {.dimension = 2, .combiner = "sum", .initializer = Counting(2)});
  EXPECT_EQ(Run(InputLayer(features_, columns)), (Rows{3, 3, 1, 1, 0, 0, 2, 2, 4, 4, 0, 0}));
  EXPECT_EQ(CollectedVariables().size(), 1U);
  EXPECT_THROW(SharedEmbedding({VocabularyList("word", {"a"}), VocabularyList("bag", {"a", "b"})},
                               {.dimension = 2}),
               Error);
}

TEST_F(FeatureColumnTest, CrossesStayInTheirBuckets) {
  const auto bucket = Bucketized(Numeric("x"), {0, 5});
  const Rows one = Layer(Indicator(Crossed({"word", bucket}, 5)));
  ASSERT_EQ(one.size(), 15U);
  for (int row = 0; row < 3; ++row) {
    float sum = 0;
    for (int i = 0; i < 5; ++i) sum += one[row * 5 + i];
    EXPECT_EQ(sum, 1);  // one combination a row
  }
  EXPECT_NE(one, Layer(Indicator(Crossed({"word", bucket}, 5, 77))));
  EXPECT_THROW(Crossed({"word"}, 5), Error);
  EXPECT_THROW(Crossed({"word", "bag"}, 0), Error);
  EXPECT_THROW(Crossed({"word", Numeric("x")}, 5), Error);
}

// Several values a row, some of them missing: recorded from TensorFlow 2.15.
TEST_F(FeatureColumnTest, DenseFeaturesOfSeveralValuesLeaveMissingOnesOut) {
  features_.Set("gaps", Const(Tensor::Of<std::string>({3, 2}, {"a", "", "b", "b", "", ""})));
  features_.Set("numbers", Const(Tensor::Of<int64_t>({3, 2}, {7, -1, 9, 9, -1, -1})));
  const Rows counts = {1, 0, 0, 2, 0, 0};
  EXPECT_EQ(Layer(Indicator(VocabularyList("gaps", {"a", "b"}))), counts);
  EXPECT_EQ(Layer(Indicator(IntegerVocabularyList("numbers", {7, 9}))), counts);
  EXPECT_EQ(Layer(Indicator(VocabularyList("gaps", {"a"}, {.num_oov_buckets = 2}))),
            (Rows{1, 0, 0, 0, 2, 0, 0, 0, 0}));
  EXPECT_EQ(Layer(Indicator(HashBucket("gaps", 5))),
            (Rows{0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}));
  // The same words, one a row.
  features_.Set("gap", Const(Tensor::Of<std::string>({3, 1}, {"a", "", "b"})));
  EXPECT_EQ(Layer(Indicator(HashBucket("gap", 5))),
            (Rows{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}));
}

// Element j of a vector has ids of its own: buckets 0 0, 1 1 and 2 2 of three each.
TEST_F(FeatureColumnTest, BucketsOfAVectorAreCategories) {
  const auto buckets = Bucketized(Numeric("pair", {.shape = {2}}), {2.5F, 4.5F});
  EXPECT_EQ(
      Layer(Embedding(buckets, {.dimension = 2, .combiner = "sum", .initializer = Counting(6)})),
      (Rows{5, 5, 7, 7, 9, 9}));
  EXPECT_EQ(Layer(buckets), (Rows{1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1}));
}

// Which buckets are not zero was recorded from TensorFlow 2.15.
TEST_F(FeatureColumnTest, CrossesAsTensorFlow) {
  features_.Set("two", Const(Tensor::Of<std::string>({3, 2}, {"x", "y", "y", "x", "x", "x"})));
  features_.Set("w", Const(Tensor::Of<float>({3, 1}, {0.5F, 2, 3})));
  const auto counts = [](const std::vector<std::pair<int, float>>& cells) {
    Rows rows(33);
    for (const auto& [cell, count] : cells) rows[static_cast<size_t>(cell)] = count;
    return rows;
  };
  const auto layer = [&](std::vector<CrossKey> keys) {
    return Layer(Indicator(Crossed(std::move(keys), 11)));
  };
  const auto high = Bucketized(Numeric("w"), {1}),
             pair = Bucketized(Numeric("pair", {.shape = {2}}), {2.5F, 4.5F});
  EXPECT_EQ(layer({"word", "two"}), counts({{8, 1}, {10, 1}, {17, 1}, {19, 1}, {24, 2}}));
  EXPECT_EQ(layer({pair, "word"}), counts({{7, 1}, {8, 1}, {11, 1}, {18, 1}, {25, 1}, {28, 1}}));
  EXPECT_EQ(layer({Identity("id", 3), "word"}), counts({{4, 1}, {15, 1}, {23, 1}}));
  // A cross of a cross has the keys of both.
  const Rows whole = counts({{6, 1}, {9, 1}, {12, 1}, {18, 1}, {28, 2}});
  EXPECT_EQ(layer({"word", "two", high}), whole);
  const auto nested = Crossed({Crossed({"word", "two"}, 7), high}, 11);
  EXPECT_EQ(nested.name(), Crossed({"word", "two", high}, 11).name());
  EXPECT_EQ(Layer(Indicator(nested)), whole);
}

// Recorded from TensorFlow 2.15: a word that is not in the list has no weight.
TEST_F(FeatureColumnTest, WeightsMayBeDenseAndIntegers) {
  features_.Set("w", Const(Tensor::Of<float>({3, 1}, {0.5F, 2, 3})));
  features_.Set("whole", Const(Tensor::Of<int64_t>({3, 1}, {5, 2, 3})));
  const auto words = VocabularyList("word", {"a", "c"});
  EXPECT_EQ(Layer(Indicator(Weighted(words, "w"))), (Rows{0.5F, 0, 0, 2, 0, 0}));
  EXPECT_EQ(Layer(Embedding(Weighted(words, "whole", DType::kInt64),
                            {.dimension = 2, .combiner = "sum", .initializer = Counting(2)})),
            (Rows{5, 5, 4, 4, 0, 0}));
}

TEST_F(FeatureColumnTest, SaysWhatDoesNotFit) {
  const auto says = [&](const std::string& part, const std::function<void()>& act) {
    const Status status = StatusOf(act);
    EXPECT_EQ(status.code(), part == "is not there" ? Code::kNotFound : Code::kInvalidArgument);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.ToString();
  };
  const auto layer = [&](const FeatureColumn& column) { InputLayer(features_, {column}); };
  says("column 'x' takes strings, but feature", [&] { layer(Indicator(HashBucket("x", 3))); });
  says("column 'word' takes integers", [&] { layer(Indicator(Identity("word", 3))); });
  says("default_value 1 is not below its 1 ids",
       [] { VocabularyList("word", {"a"}, {.default_value = 1}); });
  says("default 3 is not in [0, 3)", [] { Identity("id", 3, 3); });
  says("is not there", [] { VocabularyFile("word", "memory://no_words.txt"); });
  says("3 default values for 2 numbers", [] {
    Numeric("x", {.shape = {2}, .default_value = {1, 2, 3}});
  });
  says("'bag' needs a dense feature", [&] { layer(Numeric("bag")); });
  says("'word' needs numbers", [&] { layer(Numeric("word")); });
  says("wrap it in columns::Indicator", [&] { layer(HashBucket("word", 3)); });
  says("two columns are called 'x'", [&] { InputLayer(features_, {Numeric("x"), Numeric("x")}); });
  features_.Set("any", Placeholder(DType::kString, {}));
  says("'any' must have a known number of dimensions",
       [&] { layer(Indicator(HashBucket("any", 3))); });
}

TEST_F(FeatureColumnTest, LinearModelsStartAtZeroAndAddColumns) {
  const std::vector<FeatureColumn> columns = {Numeric("x"), VocabularyList("bag", {"a", "b"})};
  const LinearModelResult model = LinearModelParts(features_, columns);
  EXPECT_EQ(Run(model.logits), (Rows{0, 0, 0}));
  ASSERT_EQ(model.weights.size(), 2U);
  Session session(graph_);
  InitializeTables(session);
  for (const Variable& variable : CollectedVariables()) {
    const Shape shape = variable.shape().AsShape();
    const std::vector<float> twos(static_cast<size_t>(shape.num_elements()), 2);
    session.Run(variable.Assign(Const(Tensor::FromVector(twos).Reshaped(shape))));
  }
  // 2 x + 2 per word + 2.
  const Tensor value = session.Run(model.logits);
  EXPECT_EQ(Rows(value.data<float>(), value.data<float>() + 3), (Rows{4, 3, 20}));
  EXPECT_THROW(LinearModel(features_, {}), Error);
}

TEST_F(FeatureColumnTest, MissingFeaturesAreNamed) {
  try {
    InputLayer(features_, {Numeric("age")});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("age"), std::string::npos) << e.what();
  }
}

TEST_F(FeatureColumnTest, ParseSpecsFollowFromColumns) {
  const ParseSpec spec =
      MakeParseExampleSpec({Numeric("x", {.default_value = {3}}), Indicator(HashBucket("word", 5)),
                            Weighted(Identity("id", 3), "weight"), Crossed({"word", "other"}, 7)});
  ASSERT_EQ(spec.size(), 5U);
  for (const ParseFeature& feature : spec) {
    EXPECT_EQ(feature.sparse, feature.key != "x") << feature.key;
    EXPECT_EQ(feature.dtype, feature.key == "x" || feature.key == "weight" ? DType::kFloat
                             : feature.key == "id"                         ? DType::kInt64
                                                                           : DType::kString)
        << feature.key;
  }
  const ParseSpec whole =
      MakeParseExampleSpec({Numeric("n", {.default_value = {3}, .dtype = DType::kInt64})});
  EXPECT_TRUE(whole[0].default_value->Identical(Tensor::Of<int64_t>({3})));
  ParseSpec clash = spec;
  EXPECT_THROW(AddParseFeature(clash, {.key = "x", .dtype = DType::kInt64}), Error);
}

TEST_F(FeatureColumnTest, FeaturesByName) {
  EXPECT_TRUE(features_.Has("x"));
  EXPECT_EQ(features_.Find("nothing"), nullptr);
  EXPECT_THROW(features_["nothing"], Error);
  EXPECT_THROW(features_["bag"], Error);  // sparse
  EXPECT_THROW(features_.only(), Error);  // there are several
  Features one;
  EXPECT_TRUE(one.empty());
  one.Set("x", features_["x"]);
  EXPECT_EQ(one.only(), features_["x"]);
  one.Set("x", features_["id"]);  // in the place of the former
  EXPECT_EQ(one.only(), features_["id"]);
}

}  // namespace
}  // namespace sextant::columns
