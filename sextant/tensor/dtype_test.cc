#include "sextant/tensor/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sextant/tensor/handle.h"

namespace sextant {
namespace {

TEST(DTypeTest, NamesAreTensorFlows) {
  EXPECT_EQ(DTypeName(DType::kFloat), "float");
  EXPECT_EQ(DTypeName(DType::kHalf), "half");
  EXPECT_EQ(DTypeName(DType::kUInt64), "uint64");
  EXPECT_EQ(DTypeName(DType::kComplex128), "complex128");
  EXPECT_EQ(DTypeName(MakeRef(DType::kFloat)), "float_ref");
  EXPECT_EQ(DTypeName(static_cast<DType>(77)), "dtype(77)");
}

TEST(DTypeTest, NamesRoundTrip) {
  for (int i = 1; i <= 23; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(DTypeFromName(DTypeName(dtype)), dtype);
    EXPECT_EQ(DTypeFromName(DTypeName(MakeRef(dtype))), MakeRef(dtype));
    EXPECT_EQ(RemoveRef(MakeRef(dtype)), dtype);
    EXPECT_GT(DTypeSize(dtype), 0u);
  }
  EXPECT_EQ(DTypeFromName("floot"), DType::kInvalid);
  EXPECT_EQ(DTypeFromName("invalid"), DType::kInvalid);
  EXPECT_EQ(DTypeFromName("_ref"), DType::kInvalid);
}

TEST(DTypeTest, SizesAndKinds) {
  EXPECT_EQ(DTypeSize(DTypeOf<double>), 8u);
  EXPECT_EQ(DTypeSize(DTypeOf<BFloat16>), 2u);
  EXPECT_EQ(DTypeSize(DTypeOf<std::complex<double>>), 16u);
  EXPECT_EQ(DTypeSize(DTypeOf<Variant>), sizeof(Variant));
  EXPECT_EQ(DTypeSize(DType::kInvalid), 0u);
  EXPECT_EQ(DTypeSize(static_cast<DType>(24)), 0u);
  EXPECT_TRUE(IsFloating(DType::kBFloat16));
  EXPECT_FALSE(IsFloating(DType::kComplex64));
  EXPECT_TRUE(IsInteger(DType::kUInt8));
  EXPECT_FALSE(IsInteger(DType::kBool));
  EXPECT_FALSE(IsInteger(DType::kQInt8));
  EXPECT_TRUE(IsComplex(DType::kComplex128));
  EXPECT_TRUE(IsPlain(DType::kQInt32));
  EXPECT_FALSE(IsPlain(DType::kString));
  EXPECT_FALSE(IsPlain(DType::kInvalid));
}

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(HalfTest, KnownValues) {
  EXPECT_EQ(Half(1.0f).bits, 0x3c00);
  EXPECT_EQ(Half(-2.0f).bits, 0xc000);
  EXPECT_EQ(Half(0.1f).bits, 0x2e66);
  EXPECT_EQ(Half(1.0f / 3).bits, 0x3555);
  EXPECT_EQ(Half(-0.0f).bits, 0x8000);
  EXPECT_EQ(Half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Half(65519.996f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half(-kInf).bits, 0xfc00);
  EXPECT_EQ(Half(0x1p-24f).bits, 0x0001);
  EXPECT_EQ(Half(0x1p-25f).bits, 0x0000);  // a tie, to even
  EXPECT_EQ(Half(0x1.8p-24f).bits, 0x0002);
  EXPECT_EQ(Half(0x1p-14f).bits, 0x0400);
  EXPECT_EQ(static_cast<float>(Half::FromBits(0x03ff)), 0x1.ff8p-15f);
  EXPECT_EQ(static_cast<float>(Half::FromBits(0x7c00)), kInf);
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(std::nanf("")))));
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(std::bit_cast<float>(0x7f800001u)))));
}

// Every half converts back to itself, and every float between two neighbours goes to the nearer
// one.
TEST(HalfTest, RoundsToNearestEven) {
  for (uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = static_cast<float>(Half::FromBits(bits));
    const float high = static_cast<float>(Half::FromBits(bits + 1));
    const float middle = (low + high) / 2;
    ASSERT_LT(low, high);
    ASSERT_EQ(Half(low).bits, bits);
    ASSERT_EQ(Half(-low).bits, bits | 0x8000);
    ASSERT_EQ(Half(std::nextafter(middle, 0.0f)).bits, bits);
    ASSERT_EQ(Half(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(Half(std::nextafter(middle, kInf)).bits, bits + 1);
  }
}

TEST(BFloat16Test, RoundsToNearestEven) {
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(0.1f).bits, 0x3dcd);
  EXPECT_EQ(BFloat16(1.0f + 0x1p-8f).bits, 0x3f80);      // a tie, to even
  EXPECT_EQ(BFloat16(1.0f + 3 * 0x1p-8f).bits, 0x3f82);  // a tie, to even
  EXPECT_EQ(BFloat16(1.0f + 0x1.02p-8f).bits, 0x3f81);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(BFloat16(-kInf).bits, 0xff80);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_EQ(static_cast<float>(BFloat16::FromBits(0x4049)), 3.140625f);
}

}  // namespace
}  // namespace sextant
