#include "sextant/formats/example_builder.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/formats/example.h"
#include "sextant/testing/hex.h"

namespace sextant {
namespace {

using Strings = std::vector<std::string>;
using Int64s = std::vector<int64_t>;
using Floats = std::vector<float>;

TEST(ExampleBuilderTest, WritesTensorFlowsBytes) {
  const std::string bytes = ExampleBuilder()
                                .Int64s("i", Int64s{1, 300, -1})
                                .Floats("f", Floats{1.0f, -2.5f})
                                .Bytes("s", "ab")
                                .Serialize();
  EXPECT_EQ(Hex(bytes),
            "0a380a160a016912111a0f0a0d01ac02ffffffffffffffffff010a110a0166120c120a0a080000803f0000"
            "20c00a0b0a017312060a040a026162");
}

TEST(ExampleBuilderTest, IsReadAsItWasBuilt) {
  ExampleBuilder builder;
  builder.Bytes("image", std::string(3072, '\xff')).Int64("label", -7).Float("weight", 0.5f);
  builder.Bytes("words", Strings{"", "two"}).Int64s("none", Int64s{}).Floats("no", Floats{});
  const proto::Example example = ParseExample(builder.Serialize());
  EXPECT_EQ(GetOneBytes(example, "image"), std::string(3072, '\xff'));
  EXPECT_EQ(GetOneInt64(example, "label"), -7);
  EXPECT_EQ(GetOneFloat(example, "weight"), 0.5f);
  EXPECT_EQ(GetBytes(example, "words").size(), 2u);
  EXPECT_TRUE(GetInt64s(example, "none").empty());
  EXPECT_TRUE(GetFloats(example, "no").empty());
  std::string again = "used before";
  builder.SerializeTo(&again);
  EXPECT_EQ(again, builder.Serialize());
  builder.Clear();
  EXPECT_EQ(Hex(builder.Serialize()), "0a00");
}

TEST(SequenceExampleBuilderTest, IsReadAsItWasBuilt) {
  SequenceExampleBuilder builder;
  EXPECT_THROW(builder.Int64Step(Int64s{1}), Error);
  builder.context().Int64("id", 5);
  builder.FeatureList("tokens").Int64Step(Int64s{1, 2}).Int64Step(Int64s{});
  builder.FeatureList("empty");
  builder.FeatureList("words").BytesStep(Strings{"a"});
  builder.FeatureList("vectors").FloatStep(Floats{1, 2, 3});
  const proto::SequenceExample example = ParseSequenceExample(builder.Serialize());
  EXPECT_EQ(FindFeature(example.context(), "id")->int64_list().value(0), 5);
  const auto* tokens = FindFeatureList(example, "tokens");
  ASSERT_NE(tokens, nullptr);
  ASSERT_EQ(tokens->feature_size(), 2);
  EXPECT_EQ(tokens->feature(0).int64_list().value(1), 2);
  EXPECT_TRUE(tokens->feature(1).has_int64_list());
  EXPECT_EQ(FindFeatureList(example, "empty")->feature_size(), 0);
  EXPECT_EQ(FindFeatureList(example, "words")->feature(0).bytes_list().value(0), "a");
  EXPECT_EQ(FindFeatureList(example, "vectors")->feature(0).float_list().value(2), 3);
  EXPECT_EQ(FindFeatureList(example, "missing"), nullptr);
  EXPECT_THROW(ParseSequenceExample("\xff"), Error);
}

}  // namespace
}  // namespace sextant
