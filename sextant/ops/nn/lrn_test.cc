#include "sextant/ops/nn/lrn.h"

#include <cmath>

#include "sextant/ops/array/array_test.h"
#include "sextant/testing/pseudo_random.h"

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

// In double, straight from the definition: y, and the gradient of Σ w y.
void ExpectAsDefined(int64_t depth, const LrnOptions& options) {
  Graph graph;
  const GraphScope use(graph);
  const Tensor x = PseudoRandom({1, 2, 1, depth}, 3), w = PseudoRandom({1, 2, 1, depth}, 4);
  const Output input = Placeholder(DType::kFloat, x.shape());
  const Output y = LRN(input, options);
  const Output gradient = Gradients({y}, {input}, {.grad_ys = {Const(w)}})[0];
  Session session(graph);
  const auto got = session.Run({{input, x}}, std::vector<Output>{y, gradient});
  for (int64_t p = 0; p < 2; ++p) {
    const float *xs = x.data<float>() + p * depth, *ws = w.data<float>() + p * depth;
    std::vector<double> norm(depth), dx(depth);
    for (int64_t c = 0; c < depth; ++c) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        if (std::abs(k - c) <= options.depth_radius) sum += static_cast<double>(xs[k]) * xs[k];
      }
      norm[c] = options.bias + static_cast<double>(options.alpha) * sum;
    }
    for (int64_t j = 0; j < depth; ++j) {
      const double power = std::pow(norm[j], -static_cast<double>(options.beta));
      EXPECT_NEAR(got[0].data<float>()[p * depth + j], xs[j] * power, 2e-6 * (1 + power)) << j;
      dx[j] += ws[j] * power;
      for (int64_t i = 0; i < depth; ++i) {
        if (std::abs(i - j) > options.depth_radius) continue;
        dx[i] -= 2.0 * options.alpha * options.beta * xs[i] * xs[j] * power / norm[j] * ws[j];
      }
    }
    for (int64_t i = 0; i < depth; ++i) {
      EXPECT_NEAR(got[1].data<float>()[p * depth + i], dx[i], 1e-5 * (1 + std::abs(dx[i]))) << i;
    }
  }
}

TEST_F(LrnTest, IsAsDefinedForAnyDepthRadiusAndPower) {
  for (const float beta : {0.75f, 0.5f, 0.6f, 1.0f, 0.0f, 2.0f}) {
    // Depths around the numbers of lanes of vectors, and neighbourhoods wider than the channels.
    for (const int64_t depth : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67}) {
      for (int64_t radius = 0; radius <= 7; ++radius) {
        SCOPED_TRACE(testing::Message() << beta << " " << depth << " " << radius);
        ExpectAsDefined(depth, {.depth_radius = radius, .bias = 1, .alpha = 0.1f, .beta = beta});
      }
    }
    SCOPED_TRACE(beta);
    ExpectAsDefined(7, {.depth_radius = 1000000, .bias = 2, .alpha = 0.5f, .beta = beta});
    ExpectAsDefined(21, {.depth_radius = 4, .bias = 1, .alpha = 0.001f / 9, .beta = beta});
    ExpectAsDefined(33, {.depth_radius = 2, .bias = 0.5f, .alpha = 3, .beta = beta});
  }
  ExpectAsDefined(900, {.depth_radius = 3, .bias = 1, .alpha = 0.3f, .beta = 0.75f});
}

}  // namespace
}  // namespace sextant
