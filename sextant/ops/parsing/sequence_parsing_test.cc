#include "sextant/ops/parsing/sequence_parsing.h"

#include "sextant/ops/string/string_test.h"
#include "sextant/proto/example.pb.h"

namespace sextant {
namespace {

class SequenceParsingTest : public StringTest {
 protected:
  // context c 1 2, tok [1 2] [3] [], emb [1 2] [3 4]; emb [5 6]; context c 7, emb without rows.
  static std::vector<std::string> Examples() {
    proto::SequenceExample one, two, three;
    auto& c = (*one.mutable_context()->mutable_feature())["c"];
    for (const int64_t v : {1, 2}) c.mutable_int64_list()->add_value(v);
    AddRow<int64_t>(one, "tok", {1, 2});
    AddRow<int64_t>(one, "tok", {3});
    (*one.mutable_feature_lists()->mutable_feature_list())["tok"].add_feature();
    AddRow<float>(one, "emb", {1, 2});
    AddRow<float>(one, "emb", {3, 4});
    AddRow<float>(two, "emb", {5, 6});
    (*three.mutable_context()->mutable_feature())["c"].mutable_int64_list()->add_value(7);
    (*three.mutable_feature_lists()->mutable_feature_list())["emb"];
    return {one.SerializeAsString(), two.SerializeAsString(), three.SerializeAsString()};
  }
  template <typename T>
  static void AddRow(proto::SequenceExample& example, const char* key,
                     std::initializer_list<T> values) {
    auto* row = (*example.mutable_feature_lists()->mutable_feature_list())[key].add_feature();
    for (const T value : values) {
      if constexpr (std::is_same_v<T, float>)
        row->mutable_float_list()->add_value(value);
      else
        row->mutable_int64_list()->add_value(value);
    }
  }
};

// Answers of TensorFlow.
TEST_F(SequenceParsingTest, Batch) {
  const ParsedSequences parsed =
      ParseSequenceExample(Text(Examples()), {.context = {.sparse = {{"c", DType::kInt64}}},
                                              .sparse_lists = {{"tok", DType::kInt64}},
                                              .dense_lists = {{"emb", {2}, DType::kFloat}},
                                              .ragged_lists = {{"tok", DType::kInt64}}});
  EXPECT_EQ(RunInts(parsed.context.sparse[0].indices), (Ints{0, 0, 0, 1, 2, 0}));
  EXPECT_EQ(RunInts(parsed.context.sparse[0].dense_shape), (Ints{3, 2}));
  EXPECT_EQ(RunInts(parsed.sparse_lists[0].indices), (Ints{0, 0, 0, 0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(RunInts(parsed.sparse_lists[0].values), (Ints{1, 2, 3}));
  EXPECT_EQ(RunInts(parsed.sparse_lists[0].dense_shape), (Ints{3, 3, 2}));
  EXPECT_TRUE(Run(parsed.dense_lists[0])
                  .Identical(Tensor::Of<float>({3, 2, 2}, {1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0})));
  EXPECT_EQ(RunInts(parsed.dense_lengths[0]), (Ints{2, 1, 0}));
  EXPECT_EQ(RunInts(parsed.ragged_lists[0].values), (Ints{1, 2, 3}));
  EXPECT_EQ(RunInts(parsed.ragged_lists[0].outer_splits), (Ints{0, 3, 3, 3}));
  EXPECT_EQ(RunInts(parsed.ragged_lists[0].inner_splits), (Ints{0, 2, 3, 3}));
}

TEST_F(SequenceParsingTest, OneExample) {
  const SequenceSpecs specs{
      .context = {.dense = {{"c", {2}, Const(Tensor::Of<int64_t>({8, 9}))}}},
      .sparse_lists = {{"tok", DType::kInt64}},
      .dense_lists = {{"emb", {2}, DType::kFloat}, {"none", Shape(), DType::kString, true}}};
  const Output one = Const(Tensor(Examples()[0]));
  for (const auto& parsed :
       {ParseSequenceExample(one, specs), ParseSingleSequenceExample(one, specs)}) {
    EXPECT_EQ(RunInts(parsed.context.dense[0]), (Ints{1, 2}));
    EXPECT_EQ(RunInts(parsed.sparse_lists[0].indices), (Ints{0, 0, 0, 1, 1, 0}));
    EXPECT_EQ(RunInts(parsed.sparse_lists[0].dense_shape), (Ints{3, 2}));
    EXPECT_TRUE(Run(parsed.dense_lists[0]).Identical(Tensor::Of<float>({2, 2}, {1, 2, 3, 4})));
    EXPECT_EQ(Run(parsed.dense_lists[1]).shape(), Shape{0});
  }
}

TEST_F(SequenceParsingTest, RejectsBadLists) {
  const auto code = [&](const DenseListFeature& list) {
    return CodeOf(ParseSequenceExample(Text(Examples()), {.dense_lists = {list}}).dense_lists[0]);
  };
  EXPECT_EQ(code({"tok", {2}, DType::kInt64}), Code::kInvalidArgument);        // missing in two
  EXPECT_EQ(code({"tok", {2}, DType::kInt64, true}), Code::kInvalidArgument);  // a row of one
  EXPECT_EQ(code({"emb", {2}, DType::kInt64}), Code::kInvalidArgument);
  EXPECT_EQ(code({"emb", {-1}, DType::kFloat}), Code::kInvalidArgument);
  const DenseListFeature list{"emb", {2}, DType::kFloat};
  EXPECT_EQ(
      CodeOf(ParseSequenceExample(Text({"\x0f not"}), {.dense_lists = {list}}).dense_lists[0]),
      Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant
