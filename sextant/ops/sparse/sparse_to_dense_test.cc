#include "sextant/ops/sparse/sparse_to_dense.h"

#include "sextant/ops/sparse/sparse_test.h"

namespace sextant {
namespace {

class SparseToDenseTest : public SparseTest {
 protected:
  Output Dense(Ints indices, Ints shape, const Tensor& values, SparseToDenseOptions options = {}) {
    return SparseToDense(Const(Tensor::Of<int64_t>(indices)), Const(Tensor::Of<int64_t>(shape)),
                         Const(values), Const(Tensor(-1.0f)), options);
  }
};

TEST_F(SparseToDenseTest, PutsValuesAtIndices) {
  EXPECT_TRUE(
      Run(SparseToDense(Sample(), Const(Tensor(-1.0f))))
          .Identical(Tensor::Of<float>({3, 4}, {-1, 1, -1, -1, -1, -1, -1, -1, 2, -1, -1, 3})));
  EXPECT_TRUE(Run(Dense({1, 3}, {4}, Tensor::Of<float>({5, 6})))
                  .Identical(Tensor::Of<float>({-1, 5, -1, 6})));
}

TEST_F(SparseToDenseTest, OneValueGoesEverywhere) {
  EXPECT_TRUE(Run(Dense({1, 3}, {4}, Tensor(2.0f))).Identical(Tensor::Of<float>({-1, 2, -1, 2})));
}

TEST_F(SparseToDenseTest, Strings) {
  const SparseTensor x = Sparse({3}, {1}, Tensor::Of<std::string>({"a"}));
  EXPECT_TRUE(Run(SparseToDense(x, Const(Tensor("-"))))
                  .Identical(Tensor::Of<std::string>({"-", "a", "-"})));
}

TEST_F(SparseToDenseTest, ScalarAndEmptyTensors) {
  const SparseTensor scalar = Sparse({}, {}, Tensor::Of<float>({3}));
  EXPECT_TRUE(Run(SparseToDense(scalar, Const(Tensor(0.0f)))).Identical(Tensor(3.0f)));
  const SparseTensor none = Sparse({2, 1}, {}, Tensor::Of<float>({}));
  EXPECT_TRUE(
      Run(SparseToDense(none, Const(Tensor(7.0f)))).Identical(Tensor::Of<float>({2, 1}, {7, 7})));
}

TEST_F(SparseToDenseTest, ChecksOrderUnlessToldNot) {
  const Tensor values = Tensor::Of<float>({5, 6});
  EXPECT_NE(ErrorOf(Dense({3, 1}, {4}, values)).find("indices[1] = [1] is out of order"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Dense({1, 1}, {4}, values)).find("indices[1] = [1] is repeated"),
            std::string::npos);
  EXPECT_TRUE(Run(Dense({3, 1}, {4}, values, {.validate_indices = false}))
                  .Identical(Tensor::Of<float>({-1, 6, -1, 5})));
  EXPECT_TRUE(Run(Dense({1, 1}, {4}, values, {.validate_indices = false}))
                  .Identical(Tensor::Of<float>({-1, 6, -1, -1})));
}

TEST_F(SparseToDenseTest, RejectsWhatDoesNotFit) {
  const Tensor values = Tensor::Of<float>({5, 6});
  const auto has = [&](Output y, const char* text) {
    return ErrorOf(y).find(text) != std::string::npos;
  };
  EXPECT_TRUE(has(Dense({1, 7}, {4}, values), "indices[1] = [7] is out of bounds"));
  EXPECT_TRUE(
      has(Dense({-1, 1}, {4}, values, {.validate_indices = false}), "[-1] is out of bounds"));
  EXPECT_TRUE(has(Dense({1, 2}, {4}, Tensor::Of<float>({1})), "should be [] or [2]"));
}

}  // namespace
}  // namespace sextant
