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
  EXPECT_TRUE(std::isinf(InverseErf(1)));
  EXPECT_TRUE(std::isnan(InverseErf(1.5)));
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
  EXPECT_NEAR(HurwitzZeta(2, 1), pi2 / 6, 1e-14);
  EXPECT_NEAR(HurwitzZeta(4, 1), pi2 * pi2 / 90, 1e-14);
  EXPECT_NEAR(PolygammaFunction(1, 0.5), pi2 / 2, 1e-13);
  EXPECT_NEAR(PolygammaFunction(2, 1), -2 * 1.2020569031595942, 1e-13);
  EXPECT_TRUE(std::isnan(PolygammaFunction(0.5, 1)));
}

}  // namespace
}  // namespace sextant
