#include "sextant/ops/nn/lrn.h"

#include <cmath>

#include "sextant/ops/array/array_test.h"

namespace sextant {
namespace {

using LrnTest = ArrayTest;

TEST_F(LrnTest, DividesByTheNeighbourhood) {
  const Output x = Hidden(Tensor::Of<float>({1, 1, 1, 3}, {3, 4, 12}));
  const Tensor y = Run(LRN(x, {.depth_radius = 1, .bias = 0, .alpha = 1, .beta = 0.5f}));
  // 3 / sqrt(9 + 16), 4 / sqrt(9 + 16 + 144), 12 / sqrt(16 + 144)
  EXPECT_FLOAT_EQ(y.data<float>()[0], 0.6f);
  EXPECT_FLOAT_EQ(y.data<float>()[1], 4.0f / 13.0f);
  EXPECT_FLOAT_EQ(y.data<float>()[2], 12.0f / std::sqrt(160.0f));
}

// With a radius that sees one channel only y = x / (bias + x^2)^beta, whose derivative is known.
TEST_F(LrnTest, GradientOfOneChannel) {
  const Output x = Hidden(Tensor::Of<float>({1, 1, 2, 1}, {2, -1}));
  const Output y = LRN(x, {.depth_radius = 3, .bias = 1, .alpha = 1, .beta = 1});
  const Tensor g = Run(Gradients(y, {x})[0]);
  EXPECT_FLOAT_EQ(g.data<float>()[0], (1.0f - 4.0f) / 25.0f);
  EXPECT_NEAR(g.data<float>()[1], 0.0f, 1e-7f);
}

}  // namespace
}  // namespace sextant
