#include "sextant/formats/example.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/testing/hex.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

// i = [1, 300, -1], f = [1, -2.5], s = ["ab"], as TensorFlow serializes it.
constexpr std::string_view kHex =
    "0a380a160a016912111a0f0a0d01ac02ffffffffffffffffff010a110a0166120c120a0a080000803f000020c00a0b"
    "0a"
    "017312060a040a026162";

TEST(ExampleTest, ReadsEveryKind) {
  const proto::Example example = ParseExample(FromHex(kHex));
  const auto ints = GetInt64s(example, "i");
  EXPECT_EQ(std::vector(ints.begin(), ints.end()), (std::vector<int64_t>{1, 300, -1}));
  const auto floats = GetFloats(example, "f");
  EXPECT_EQ(std::vector(floats.begin(), floats.end()), (std::vector<float>{1.0f, -2.5f}));
  EXPECT_EQ(GetBytes(example, "s"), std::vector<std::string_view>{"ab"});
  EXPECT_EQ(GetOneBytes(example, "s"), "ab");
  EXPECT_TRUE(HasFeature(example, "i"));
}

TEST(ExampleTest, FeatureWithoutKindIsMissing) {
  proto::Example example;
  (*example.mutable_features()->mutable_feature())["k"];
  EXPECT_FALSE(HasFeature(example, "k"));
  EXPECT_EQ(FindFeature(example, "none"), nullptr);
  const Status status = StatusOf([&] { GetFloats(example, "k"); });
  EXPECT_EQ(status.ToString(), "NOT_FOUND: the example has no feature 'k'");
}

TEST(ExampleTest, RejectsOtherKindsAndCounts) {
  const proto::Example example = ParseExample(FromHex(kHex));
  EXPECT_EQ(StatusOf([&] { GetInt64s(example, "f"); }).ToString(),
            "INVALID_ARGUMENT: feature 'f' holds float values, expected int64");
  EXPECT_EQ(StatusOf([&] { GetOneInt64(example, "i"); }).ToString(),
            "INVALID_ARGUMENT: feature 'i' holds 3 values, expected 1");
}

TEST(ExampleTest, BadBytesAreDataLoss) {
  EXPECT_EQ(StatusOf([] { ParseExample("\x0a\xff"); }).code(), Code::kDataLoss);
}

}  // namespace
}  // namespace sextant
