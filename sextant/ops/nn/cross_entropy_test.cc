#include "sextant/ops/nn/cross_entropy.h"

#include <cmath>
#include <limits>

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/nn/softmax.h"

namespace sextant {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();

class CrossEntropyTest : public ArrayTest {
 protected:
  static void ExpectNear(const Tensor& value, const std::vector<double>& elements) {
    ASSERT_EQ(value.num_elements(), static_cast<int64_t>(elements.size()));
    for (size_t i = 0; i < elements.size(); ++i) {
      EXPECT_NEAR(value.data<double>()[i], elements[i], 1e-12) << "element " << i;
    }
  }
};

TEST_F(CrossEntropyTest, SoftmaxOfHugeLogits) {
  const Output x = Hidden(Tensor::Of<double>({3, 2}, {1000, 1000, -1000, 1000, -kInfinity, 0}));
  ExpectNear(Run(Softmax(x)), {0.5, 0.5, 0, 1, 0, 1});
  const Output y = Hidden(Tensor::Of<double>({1, 2}, {1000, 1000 + std::log(3.0)}));
  ExpectNear(Run(LogSoftmax(y)), {std::log(0.25), std::log(0.75)});
}

TEST_F(CrossEntropyTest, SoftmaxOfLongAndShortRowsIsTheSame) {
  Tensor x(DType::kFloat, {300, 7});
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    x.data<float>()[i] = std::sin(static_cast<float>(i));
  }
  const Tensor all = Run(Softmax(Hidden(x)));
  const Tensor row = Run(Softmax(Hidden(x.Rows(123, 124).Clone())));
  EXPECT_TRUE(row.Identical(all.Rows(123, 124)));
}

TEST_F(CrossEntropyTest, LossAndGradientOfUniformLogits) {
  const Output x = Hidden(Tensor::Of<double>({1, 4}, {2, 2, 2, 2}));
  const auto dense =
      SoftmaxCrossEntropyWithLogits(x, Hidden(Tensor::Of<double>({1, 4}, {0, 0.5, 0.5, 0})));
  ExpectNear(Run(dense.loss), {std::log(4.0)});
  ExpectNear(Run(dense.backprop), {0.25, -0.25, -0.25, 0.25});
  const auto sparse = SparseSoftmaxCrossEntropyWithLogits(x, Hidden(Tensor::Of<int32_t>({3})));
  ExpectNear(Run(sparse.loss), {std::log(4.0)});
  ExpectNear(Run(sparse.backprop), {0.25, 0.25, 0.25, -0.75});
}

TEST_F(CrossEntropyTest, BroadcastsRowsAndColumns) {
  const Output labels = Hidden(Tensor::Of<double>({1, 3}, {1, 0, 2}));
  const auto columns =
      SoftmaxCrossEntropyWithLogits(Hidden(Tensor::Of<double>({2, 1}, {1, 2})), labels);
  ExpectNear(Run(columns.loss), {3 * std::log(3.0), 3 * std::log(3.0)});
  const auto vector =
      SoftmaxCrossEntropyWithLogits(Hidden(Tensor::Of<double>({3}, {4, 4, 4})), labels);
  EXPECT_EQ(Run(vector.backprop).shape(), (Shape{1, 3}));
}

// The derivative of backprop is that of softmax.
TEST_F(CrossEntropyTest, SecondDerivative) {
  const Output x = Hidden(Tensor::Of<double>({2, 3}, {0.1, -0.4, 0.8, 1, 0, -1}));
  const Output weights = Hidden(Tensor::Of<double>({2, 3}, {1, 2, -1, 0.5, 0, 3}));
  const Output labels = Hidden(Tensor::Of<int64_t>({2, 0}));
  const Output backprop = SparseSoftmaxCrossEntropyWithLogits(x, labels).backprop;
  const Tensor expected = Run(Gradients(Softmax(x) * weights, {x})[0]);
  const Tensor value = Run(Gradients(backprop * weights, {x})[0]);
  ExpectNear(value, {expected.data<double>(), expected.data<double>() + 6});
}

TEST_F(CrossEntropyTest, RefusesWhatDoesNotFit) {
  const Output x = Hidden(Tensor::Zeros(DType::kFloat, {2, 3}));
  const auto sparse = [&](const Tensor& logits, const Tensor& labels) {
    return ErrorOf(SparseSoftmaxCrossEntropyWithLogits(Hidden(logits), Hidden(labels)).loss);
  };
  EXPECT_NE(
      ErrorOf(SparseSoftmaxCrossEntropyWithLogits(x, Hidden(Tensor::Of<int32_t>({0, 3}))).loss)
          .find("Received a label value of 3 which is outside the valid range of [0, 3).  "
                "Label values: 0 3"),
      std::string::npos);
  EXPECT_NE(sparse(Tensor::Zeros(DType::kFloat, {2, 3}), Tensor::Of<int32_t>({0}))
                .find("logits and labels must have the same first dimension, got logits shape "
                      "[2,3] and labels shape [1]"),
            std::string::npos);
  EXPECT_NE(sparse(Tensor::Zeros(DType::kFloat, {2, 0}), Tensor::Of<int32_t>({0, 0}))
                .find("Must have at least one class, but got logits shape [2,0]"),
            std::string::npos);
  EXPECT_NE(
      ErrorOf(SoftmaxCrossEntropyWithLogits(x, Hidden(Tensor::Zeros(DType::kFloat, {4, 3}))).loss)
          .find("logits and labels must be broadcastable: logits_size=[2,3] "
                "labels_size=[4,3]"),
      std::string::npos);
}

}  // namespace
}  // namespace sextant
