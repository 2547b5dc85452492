#include "sextant/ops/math/special.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sextant/ops/math/special_functions.h"

namespace sextant {
namespace {

TEST(SpecialFunctionsTest, InverseErfUndoesErf) {
  for (const double z : {1e-12, 0.01, 0.3, 0.477, 1.0, 2.0, 3.5, 5.0}) {
    EXPECT_NEAR(InverseErf(std::erf(z)), z, z > 3 ? 1e-3 : 1e-12 * z + 1e-15);
    EXPECT_EQ(InverseErf(-std::erf(z)), -InverseErf(std::erf(z)));
  }
  EXPECT_TRUE(std::isinf(InverseErf(1.0)));
  EXPECT_TRUE(std::isnan(InverseErf(1.5)));
}

// As TensorFlow, in which (x + 1) / 2 rounds to 1.
TEST(SpecialFunctionsTest, InverseErfOfTheFirstNumberAboveOne) {
  EXPECT_EQ(InverseErf(std::nextafter(1.0F, 2.0F)), HUGE_VAL);
  EXPECT_EQ(InverseErf(std::nextafter(1.0, 2.0)), HUGE_VAL);
  EXPECT_TRUE(std::isnan(InverseErf(1 + 0x1p-22F)));
  EXPECT_TRUE(std::isnan(InverseErf(std::nextafter(-1.0F, -2.0F))));
}

TEST(SpecialFunctionsTest, NormalQuantile) {
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-13);
  EXPECT_NEAR(NormalQuantile(1e-10), -6.361340902404056, 1e-11);
  EXPECT_EQ(NormalQuantile(0.5), 0);
}

TEST(SpecialFunctionsTest, Digamma) {
  EXPECT_NEAR(DigammaFunction(1), -std::numbers::egamma, 1e-14);
  EXPECT_NEAR(DigammaFunction(0.5), -std::numbers::egamma - 2 * std::numbers::ln2, 1e-13);
  EXPECT_NEAR(DigammaFunction(-1.5), 0.7031566406452432, 1e-13);
  EXPECT_TRUE(std::isnan(DigammaFunction(-3)));
}

TEST(SpecialFunctionsTest, ZetaAndPolygamma) {
  const double pi2 = std::numbers::pi * std::numbers::pi;
  EXPECT_NEAR(HurwitzZeta(2.0, 1.0), pi2 / 6, 1e-14);
  EXPECT_NEAR(HurwitzZeta(4.0, 1.0), pi2 * pi2 / 90, 1e-14);
  EXPECT_NEAR(PolygammaFunction(1.0, 0.5), pi2 / 2, 1e-13);
  EXPECT_NEAR(PolygammaFunction(2.0, 1.0), -2 * 1.2020569031595942, 1e-13);
  EXPECT_TRUE(std::isnan(PolygammaFunction(0.5, 1.0)));
}

// The expected values are those of TensorFlow.
TEST(SpecialFunctionsTest, ZetaAndPolygammaAtTheirLimits) {
  EXPECT_EQ(HurwitzZeta(2.5, HUGE_VAL), 0);
  EXPECT_EQ(HurwitzZeta(1.0, std::nan("")), HUGE_VAL);
  EXPECT_EQ(HurwitzZeta(HUGE_VAL, 1.0), 1);
  EXPECT_EQ(HurwitzZeta(1e300, 7.0), 0);
  for (const double q : {0.0, -1.0, -HUGE_VAL}) {
    EXPECT_EQ(HurwitzZeta(2.0, q), HUGE_VAL) << q;
    EXPECT_TRUE(std::isnan(HurwitzZeta(3.0, q))) << q;
    EXPECT_TRUE(std::isnan(HurwitzZeta(2.5, q))) << q;
  }
  EXPECT_EQ(PolygammaFunction(1.0, HUGE_VAL), 0);
  EXPECT_EQ(PolygammaFunction(3e38F, 1.0F), HUGE_VAL);
  EXPECT_EQ(PolygammaFunction(60.0F, 2.0F), -HUGE_VAL);
  EXPECT_NEAR(PolygammaFunction(60.0, 2.0), -3.6087e63, 1e59);
}

}  // namespace
}  // namespace sextant
