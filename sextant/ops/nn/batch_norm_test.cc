#include "sextant/ops/nn/batch_norm.h"

#include <cmath>

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/nn/normalization.h"

namespace sextant {
namespace {

class BatchNormTest : public ArrayTest {
 protected:
  // Numbers without a pattern, in about [-1, 1].
  static Tensor Noise(const Shape& shape, int seed) {
    Tensor t(DType::kFloat, shape);
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      t.data<float>()[i] = std::sin(static_cast<float>(i * 37 + seed * 11) * 0.7f);
    }
    return t;
  }
  static void ExpectClose(const Tensor& a, const Tensor& b, double tolerance) {
    ASSERT_EQ(a.shape(), b.shape());
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      EXPECT_NEAR(a.data<float>()[i], b.data<float>()[i], tolerance) << "element " << i;
    }
  }
  Output Vector(std::initializer_list<float> values) { return Hidden(Tensor::Of<float>(values)); }
  Output none_ = Const(Tensor(DType::kFloat, {0}));
};

TEST_F(BatchNormTest, NormalizesByTheBatch) {
  // Channels {1, 3} and {-2, 6}: means 2 and 2, variances 1 and 16.
  const Output x = Hidden(Tensor::Of<float>({2, 1, 1, 2}, {1, -2, 3, 6}));
  const auto result =
      FusedBatchNorm(x, Vector({1, 2}), Vector({0, 1}), none_, none_, {.epsilon = 0});
  ExpectTensor<float>(Run(result.y), {2, 1, 1, 2}, {-1, -1, 1, 3});
  ExpectTensor<float>(Run(result.batch_mean), {2}, {2, 2});
  ExpectTensor<float>(Run(result.batch_variance), {2}, {2, 32});
  ExpectTensor<float>(Run(result.reserve_space_2), {2}, {1, 16});
  EXPECT_EQ(Run(result.reserve_space_3).shape(), Shape());
}

TEST_F(BatchNormTest, MovesRunningAverages) {
  const Output x = Hidden(Tensor::Of<float>({2, 1, 1, 1}, {1, 3}));
  const auto result = FusedBatchNorm(x, Vector({1}), Vector({0}), Vector({10}), Vector({4}),
                                     {.exponential_avg_factor = 0.25f});
  ExpectTensor<float>(Run(result.batch_mean), {1}, {8});
  ExpectTensor<float>(Run(result.batch_variance), {1}, {3.5f});
}

TEST_F(BatchNormTest, UsesGivenStatistics) {
  const Output x = Hidden(Tensor::Of<float>({1, 1, 2, 1}, {1, 5}));
  const auto result = FusedBatchNorm(x, Vector({3}), Vector({1}), Vector({1}), Vector({4}),
                                     {.epsilon = 0, .is_training = false});
  ExpectTensor<float>(Run(result.y), {1, 1, 2, 1}, {1, 7});
}

TEST_F(BatchNormTest, LargeMeansDoNotDrownTheVariance) {
  Tensor x = Noise({16, 12, 12, 3}, 1);
  const Tensor small =
      Run(FusedBatchNorm(Hidden(x.Clone()), Vector({1, 1, 1}), Vector({0, 0, 0}), none_, none_)
              .batch_variance);
  for (int64_t i = 0; i < x.num_elements(); ++i) x.data<float>()[i] += 1000.0f;
  const Tensor large = Run(
      FusedBatchNorm(Hidden(x), Vector({1, 1, 1}), Vector({0, 0, 0}), none_, none_).batch_variance);
  ExpectClose(small, large, 1e-5);
}

TEST_F(BatchNormTest, ChannelsMayComeFirst) {
  const Output x = Hidden(Noise({3, 4, 5, 2}, 2)), scale = Vector({1, 2}), offset = Vector({3, 4});
  const auto last = FusedBatchNorm(x, scale, offset, none_, none_);
  const Output turned = Transpose(x, {0, 3, 1, 2});
  const auto first = FusedBatchNorm(turned, scale, offset, none_, none_, {.data_format = "NCHW"});
  ExpectClose(Run(last.y), Run(Transpose(first.y, {0, 2, 3, 1})), 1e-5);
  const Output weights = Hidden(Noise({3, 4, 5, 2}, 7));
  const Output a = Gradients(last.y * weights, {x})[0];
  const Output b = Gradients(first.y * Transpose(weights, {0, 3, 1, 2}), {x})[0];
  ExpectClose(Run(a), Run(b), 1e-5);
}

// First and second derivatives agree with those of the same formula built of simple ops.
TEST_F(BatchNormTest, GradientsAgreeWithTheComposedFormula) {
  const Output x = Hidden(Noise({3, 2, 2, 3}, 3)), scale = Vector({1.5f, -2, 0.5f});
  const Output offset = Vector({0.1f, 0.2f, 0.3f}), weights = Hidden(Noise({3, 2, 2, 3}, 4));
  const Output mean = Vector({0.3f, -0.2f, 0.1f}), variance = Vector({0.5f, 2, 1});
  for (const bool training : {true, false}) {
    const auto fused = FusedBatchNorm(x, scale, offset, mean, variance,
                                      {.epsilon = 0.01f, .is_training = training});
    // Not by Moments, whose second derivative leaves something out.
    const Output batch_mean = Mean(x, {0, 1, 2});
    const Output batch_variance = Mean(Square(x - batch_mean), {0, 1, 2});
    const Output composed =
        BatchNormalization(x, training ? batch_mean : mean, training ? batch_variance : variance,
                           offset, scale, {.variance_epsilon = 0.01f});
    ExpectClose(Run(fused.y), Run(composed), 1e-5);
    const std::vector<Output> inputs = {x, scale, offset};
    const auto a = Gradients(fused.y * weights, inputs);
    const auto b = Gradients(composed * weights, inputs);
    for (int i = 0; i < 3; ++i) ExpectClose(Run(a[i]), Run(b[i]), 1e-4);
    const Output direction = Hidden(Noise({3, 2, 2, 3}, 5));
    const auto aa = Gradients({a[0].dense() * direction, a[1].dense()}, {x, weights});
    const auto bb = Gradients({b[0].dense() * direction, b[1].dense()}, {x, weights});
    for (int i = 0; i < 2; ++i) ExpectClose(Run(aa[i]), Run(bb[i]), 2e-3);
  }
}

TEST_F(BatchNormTest, EmptyBatches) {
  const Output x = Hidden(Tensor(DType::kFloat, {0, 2, 2, 1}));
  const auto result = FusedBatchNorm(x, Vector({1}), Vector({0}), none_, none_);
  EXPECT_EQ(Run(result.y).num_elements(), 0);
  EXPECT_TRUE(std::isnan(*Run(result.batch_mean).data<float>()));
}

TEST_F(BatchNormTest, RefusesVectorsThatDoNotFit) {
  const Output x = Hidden(Noise({1, 2, 2, 3}, 1)), three = Vector({1, 1, 1}), two = Vector({1, 1});
  EXPECT_NE(ErrorOf(FusedBatchNorm(x, two, three, none_, none_).y)
                .find("scale must have the same number of elements as the channels of x, got 2 "
                      "and 3"),
            std::string::npos);
  EXPECT_NE(ErrorOf(FusedBatchNorm(x, three, three, Hidden(Tensor(DType::kFloat, {0})), three,
                                   {.is_training = false})
                        .y)
                .find("When is_training=false, mean must have the same number of elements"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant
