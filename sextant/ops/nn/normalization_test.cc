#include "sextant/ops/nn/normalization.h"

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/nn/dropout.h"
#include "sextant/ops/nn/moments.h"
#include "sextant/ops/nn/zero_fraction.h"

namespace sextant {
namespace {

using NormalizationTest = ArrayTest;

TEST_F(NormalizationTest, Moments) {
  const Output x = Hidden(Tensor::Of<float>({2, 2}, {1, 10, 3, 20}));
  const MomentsResult moments = Moments(x, {0});
  ExpectTensor<float>(Run(moments.mean), {2}, {2, 15});
  ExpectTensor<float>(Run(moments.variance), {2}, {1, 25});
  EXPECT_EQ(Run(Moments(x, {0}, {.keep_dims = true}).mean).shape(), (Shape{1, 2}));
}

TEST_F(NormalizationTest, L2Normalize) {
  const Tensor y = Run(L2Normalize(Hidden(Tensor::Of<double>({1, 2}, {3, 4})), {1}));
  EXPECT_NEAR(y.data<double>()[0], 0.6, 1e-12);
  EXPECT_NEAR(y.data<double>()[1], 0.8, 1e-12);
}

TEST_F(NormalizationTest, LayerNormNormalizesEachRow) {
  const Output x = Const(Tensor::Of<double>({2, 2}, {1, 3, -2, 6}));
  const Tensor y = Run(LayerNorm(x, Const(Tensor::Of<double>({1, 2})), Output(), {.epsilon = 0}));
  const double expected[] = {-1, 2, -1, 2};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y.data<double>()[i], expected[i], 1e-9);
}

TEST_F(NormalizationTest, DropoutScalesWhatItKeeps) {
  const Output x = Hidden(Tensor::FromVector(std::vector<float>(10000, 2.0f)));
  const Output y = Dropout(x, {.rate = 0.75, .seed = 1});
  const Tensor value = Run(y);
  int kept = 0;
  for (float element : value.flat<float>()) {
    ASSERT_TRUE(element == 0.0f || element == 8.0f) << element;
    kept += element != 0.0f;
  }
  EXPECT_NEAR(kept, 2500, 200);
  EXPECT_EQ(Dropout(x, {.rate = 0}), x);
  EXPECT_THROW(Dropout(x, {.rate = 1}), Error);
  EXPECT_THROW(Dropout(Const(Tensor(1)), {}), Error);
}

TEST_F(NormalizationTest, DropoutByAFedRate) {
  const Output x = Hidden(Tensor::FromVector(std::vector<float>(10000, 2.0f)));
  const Output rate = Placeholder(DType::kFloat);  // of any shape
  const Output y = Dropout(x, {.rate_tensor = rate, .seed = 1});
  EXPECT_EQ(y.shape().ToString(), x.shape().ToString());
  Session session(graph_);
  const Tensor some = session.Run({{rate, Tensor(0.75f)}}, y);
  int kept = 0;
  for (float element : some.flat<float>()) {
    ASSERT_TRUE(element == 0.0f || element == 8.0f) << element;
    kept += element != 0.0f;
  }
  EXPECT_NEAR(kept, 2500, 200);
  const Tensor all = session.Run({{rate, Tensor(0.0f)}}, y);
  for (float element : all.flat<float>()) ASSERT_EQ(element, 2.0f);
}

TEST_F(NormalizationTest, ZeroFractionCountsZeros) {
  EXPECT_EQ(Run(ZeroFraction(Const(Tensor::Of<float>({2, 2}, {0, 1, -0.0f, 3})))).scalar<float>(),
            0.5f);
  EXPECT_EQ(Run(ZeroFraction(Const(Tensor::Of<int32_t>({0, 0, 0, 7})))).scalar<float>(), 0.75f);
  EXPECT_TRUE(std::isnan(Run(ZeroFraction(Zeros({0}))).scalar<float>()));
}

TEST_F(NormalizationTest, DropoutOfWholeColumns) {
  const Output x = Hidden(Tensor::FromVector(std::vector<float>(200, 1.0f)).Reshaped({2, 100}));
  const Tensor y = Run(Dropout(x, {.rate = 0.5, .seed = 3, .noise_shape = ConstInts({1, 100})}));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(y.data<float>()[i], y.data<float>()[100 + i]);
}

}  // namespace
}  // namespace sextant
