// GRUBlockCell against the same step written out with simple ops, values and gradients.
#include "sextant/ops/rnn/gru_block.h"

#include <cmath>

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/math/bias.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/trig.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

class GruBlockTest : public ArrayTest {
 protected:
  static Tensor Noise(const Shape& shape, int seed) {
    Tensor t(DType::kFloat, shape);
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      t.data<float>()[i] = std::sin(static_cast<float>(i * 37 + seed * 11) * 0.7f);
    }
    return t;
  }
  static void ExpectClose(const Tensor& a, const Tensor& b) {
    ASSERT_EQ(a.shape(), b.shape());
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      EXPECT_NEAR(a.data<float>()[i], b.data<float>()[i], 2e-5) << "element " << i;
    }
  }

  // x, h_prev, w_ru, w_c, b_ru, b_c for three inputs and four units.
  const std::vector<Output> inputs_ = {Hidden(Noise({2, 3}, 1)), Hidden(Noise({2, 4}, 2)),
                                       Hidden(Noise({7, 8}, 3)), Hidden(Noise({7, 4}, 4)),
                                       Hidden(Noise({8}, 5)),    Hidden(Noise({4}, 6))};
};

TEST_F(GruBlockTest, IsOneStep) {
  const Output x = inputs_[0], h_prev = inputs_[1];
  const Output gates = Sigmoid(BiasAdd(MatMul(Concat({x, h_prev}, 1), inputs_[2]), inputs_[4]));
  const std::vector<Output> ru = Split(gates, 2, 1);
  const Output c = Tanh(BiasAdd(MatMul(Concat({x, ru[0] * h_prev}, 1), inputs_[3]), inputs_[5]));
  const Output h = ru[1] * h_prev + (1.0 - ru[1]) * c;

  const GruBlockCellResult block =
      GRUBlockCell(x, h_prev, inputs_[2], inputs_[3], inputs_[4], inputs_[5]);
  ExpectClose(Run(block.r), Run(ru[0]));
  ExpectClose(Run(block.u), Run(ru[1]));
  ExpectClose(Run(block.c), Run(c));
  ExpectClose(Run(block.h), Run(h));
  const Output weight = Const(Noise({2, 4}, 7));
  const auto ours = Gradients(block.h * weight, inputs_), theirs = Gradients(h * weight, inputs_);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    SCOPED_TRACE(i);
    ExpectClose(Run(ours[i]), Run(theirs[i]));
  }
}

TEST_F(GruBlockTest, RefusesShapesThatDoNotFit) {
  EXPECT_NE(
      ErrorOf(
          GRUBlockCell(inputs_[0], inputs_[1], inputs_[3], inputs_[3], inputs_[4], inputs_[5]).h)
          .find("w_ru must have the shape [7,8], got [7,4]"),
      std::string::npos);
}

}  // namespace
}  // namespace sextant
