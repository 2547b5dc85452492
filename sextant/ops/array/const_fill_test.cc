#include "sextant/ops/array/const_fill.h"

#include "sextant/ops/array/array_test.h"

namespace sextant {
namespace {

using ConstFillTest = ArrayTest;

TEST_F(ConstFillTest, FillsZerosAndOnes) {
  ExpectTensor<int32_t>(Run(Fill({2, 2}, Tensor(int32_t{7}))), {2, 2}, {7, 7, 7, 7});
  ExpectTensor<float>(Run(Zeros({3})), {3}, {0, 0, 0});
  ExpectTensor<double>(Run(Ones({2}, DType::kDouble)), {2}, {1, 1});
  ExpectTensor<bool>(Run(OnesLike(Const(Tensor::Of<bool>({false, true})))), {2}, {true, true});
  ExpectTensor<std::string>(Run(Fill({2}, Tensor("ab"))), {2}, {"ab", "ab"});
  ExpectTensor<std::string>(Run(ZerosLike(Const(Tensor::Of<std::string>({"x"})))), {1}, {""});
}

TEST_F(ConstFillTest, OnesOfSmallFloats) {
  EXPECT_EQ(float(Run(Ones({}, DType::kHalf)).scalar<Half>()), 1.0f);
  EXPECT_EQ(float(Run(Ones({}, DType::kBFloat16)).scalar<BFloat16>()), 1.0f);
  EXPECT_EQ(Run(Ones({}, DType::kComplex64)).scalar<std::complex<float>>(),
            std::complex<float>(1, 0));
  EXPECT_EQ(Run(Ones({}, DType::kUInt64)).scalar<uint64_t>(), 1u);
}

TEST_F(ConstFillTest, UnfedPlaceholderNamesItself) {
  const Output x = Placeholder(DType::kFloat, {-1, 3}, "x");
  const std::string error = ErrorOf(x);
  EXPECT_NE(error.find("INVALID_ARGUMENT"), std::string::npos) << error;
  EXPECT_NE(
      error.find("You must feed a value for placeholder 'x' with dtype float and shape [?,3]"),
      std::string::npos)
      << error;
}

TEST_F(ConstFillTest, DefaultIsUsedUnlessFed) {
  const Output x = PlaceholderWithDefault(Const(Tensor(1.5f)), {});
  EXPECT_EQ(Run(x).scalar<float>(), 1.5f);
  EXPECT_EQ(Run(x, {{x, Tensor(2.5f)}}).scalar<float>(), 2.5f);
}

TEST_F(ConstFillTest, RejectsBadDims) {
  const Output one = Const(Tensor(1.0f));
  EXPECT_NE(ErrorOf(Fill(Hidden(Tensor::Of<int32_t>({-1})), one)).find("INVALID_ARGUMENT"),
            std::string::npos);
  const Output huge = Hidden(Tensor::Of<int64_t>({int64_t{1} << 40, int64_t{1} << 40}));
  EXPECT_NE(ErrorOf(Fill(huge, one)).find("INVALID_ARGUMENT"), std::string::npos);
}

}  // namespace
}  // namespace sextant
