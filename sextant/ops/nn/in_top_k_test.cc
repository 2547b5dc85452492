#include "sextant/ops/nn/in_top_k.h"

#include <limits>

#include "sextant/ops/array/array_test.h"

namespace sextant {
namespace {

using InTopKTest = ArrayTest;

TEST_F(InTopKTest, TiesCountAndWhatIsNotFiniteDoesNot) {
  const float inf = std::numeric_limits<float>::infinity();
  const Output predictions = Hidden(
      Tensor::Of<float>({5, 4}, {1, 2, 2, 3, inf, 1, 2, 3, 1, 1, 1, 1, 1, 2, 3, 4, 4, 3, 2, 1}));
  const Output targets = Hidden(Tensor::Of<int32_t>({1, 3, 2, 4, 2}));
  ExpectTensor<bool>(Run(InTopK(predictions, targets, Const(2))), {5},
                     {true, false, true, false, false});
}

TEST_F(InTopKTest, RefusesShapesThatDoNotFit) {
  const Output predictions = Hidden(Tensor::Zeros(DType::kFloat, {1, 4}));
  EXPECT_NE(ErrorOf(InTopK(predictions, Hidden(Tensor::Of<int32_t>({1, 2})), Const(2)))
                .find("First dimension of predictions 1 must match length of targets 2"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant
