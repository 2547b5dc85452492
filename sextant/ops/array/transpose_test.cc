#include "sextant/ops/array/transpose.h"

#include <numeric>

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/array/broadcast_to.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"

namespace sextant {
namespace {

using TransposeTest = ArrayTest;

Tensor Iota(const Shape& shape) {
  Tensor t(DType::kInt32, shape);
  const auto flat = t.flat<int32_t>();
  std::iota(flat.begin(), flat.end(), 0);
  return t;
}

TEST_F(TransposeTest, SwapsRowsAndColumns) {
  ExpectTensor<int32_t>(Run(Transpose(Const(Iota({2, 3})), {1, 0})), {3, 2}, {0, 3, 1, 4, 2, 5});
  ExpectTensor<std::string>(
      Run(Transpose(Const(Tensor::Of<std::string>(Shape{2, 2}, {"a", "b", "c", "d"})), {1, 0})),
      {2, 2}, {"a", "c", "b", "d"});
}

// Every permutation of a tensor larger than a tile, against the definition.
TEST_F(TransposeTest, AllPermutationsOfFourDimensions) {
  const Shape shape{3, 17, 5, 18};
  const Tensor x = Iota(shape);
  const Output input = Placeholder(DType::kInt32, shape);
  std::vector<int64_t> perm = {0, 1, 2, 3};
  do {
    const Tensor y = Run(Transpose(input, perm), {{input, x}});
    int64_t strides[4] = {17 * 5 * 18, 5 * 18, 18, 1};
    const int32_t* value = y.data<int32_t>();
    int64_t wrong = 0;
    for (int64_t a = 0; a < y.dim(0); ++a) {
      for (int64_t b = 0; b < y.dim(1); ++b) {
        for (int64_t c = 0; c < y.dim(2); ++c) {
          for (int64_t d = 0; d < y.dim(3); ++d) {
            wrong += *value++ != a * strides[perm[0]] + b * strides[perm[1]] +
                                     c * strides[perm[2]] + d * strides[perm[3]];
          }
        }
      }
    }
    EXPECT_EQ(wrong, 0) << perm[0] << perm[1] << perm[2] << perm[3];
  } while (std::next_permutation(perm.begin(), perm.end()));
}

TEST_F(TransposeTest, ConjugatesComplexNumbers) {
  using C = std::complex<float>;
  const Output x = Const(Tensor::Of<C>(Shape{1, 2}, {C(1, 2), C(3, -4)}));
  ExpectTensor<C>(Run(ConjugateTranspose(x, {1, 0})), {2, 1}, {C(1, -2), C(3, 4)});
}

TEST_F(TransposeTest, RejectsWhatIsNoPermutation) {
  const Output x = Placeholder(DType::kInt32);
  const FeedMap feeds = {{x, Iota({2, 3})}};
  const auto error = [&](Tensor perm) { return ErrorOf(Transpose(x, Hidden(perm)), feeds); };
  EXPECT_NE(error(Tensor::Of<int32_t>({0, 0})).find("1 is missing"), std::string::npos);
  EXPECT_NE(error(Tensor::Of<int32_t>({0, 2})).find("out of range"), std::string::npos);
  EXPECT_NE(error(Tensor::Of<int32_t>({0})).find("must have 2 elements"), std::string::npos);
  const Output bad = Hidden(Tensor::Of<int32_t>({0, 0, 1}));
  EXPECT_NE(ErrorOf(InvertPermutation(bad)).find("0 is duplicated"), std::string::npos);
}

// Values from TensorFlow 2.15.
TEST_F(TransposeTest, BroadcastGradientArgsSumsWhereBothAreOneUnlessAllIsEqual) {
  const auto axes = [&](std::vector<int64_t> a, std::vector<int64_t> b, int which) {
    const auto pair = BroadcastGradientArgs(ConstInts(a), ConstInts(b));
    return Run(which == 0 ? pair.first : pair.second).AsInt64s();
  };
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(axes({2, 1, 3}, {1, 1, 3}, 0), Ints({1}));
  EXPECT_EQ(axes({2, 1, 3}, {1, 1, 3}, 1), Ints({0, 1}));
  EXPECT_EQ(axes({1, 1}, {1, 1}, 0), Ints());
  EXPECT_EQ(axes({1}, {1, 1}, 1), Ints({0, 1}));
  EXPECT_EQ(axes({0, 1}, {1}, 0), Ints({1}));
}

TEST_F(TransposeTest, TilesAndBroadcasts) {
  ExpectTensor<int32_t>(Run(Tile(Const(Iota({1, 2})), {2, 2})), {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  ExpectTensor<int32_t>(Run(BroadcastTo(Const(Iota({2, 1})), {2, 3})), {2, 3}, {0, 0, 0, 1, 1, 1});
  EXPECT_EQ(Run(Tile(Const(Iota({2, 2})), {0, 1})).shape().ToString(), "[0,2]");
  // Known in part: as many rows as a batch has.
  const Output rows = Slice(ShapeOf(Placeholder(DType::kFloat, PartialShape({-1, 3}))), {0}, {1});
  const Output once = Const(Tensor::Of<int32_t>({1}));
  EXPECT_EQ(Tile(Const(Iota({1, 2})), Concat({rows, once}, 0)).shape().ToString(), "[?,2]");
  EXPECT_NE(ErrorOf(Tile(Const(Iota({3})), Hidden(Tensor::Of<int32_t>({-1})))).find("multiples"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant
