#include "sextant/ops/math/matrix_diag.h"

#include <gtest/gtest.h>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class MatrixDiagTest : public testing::Test {
 protected:
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  Graph graph_;
  GraphScope scope_{graph_};
  // 0 to 11 in three rows.
  Output matrix_ = Const(Tensor::Of<float>({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
};

// Values of TensorFlow 2.15.
TEST_F(MatrixDiagTest, PartAlignsShortDiagonals) {
  EXPECT_TRUE(Run(MatrixDiagPart(matrix_, {.k = {-1, 2}, .align = "RIGHT_LEFT"}))
                  .Identical(Tensor::Of<float>({4, 3}, {0, 2, 7, 1, 6, 11, 0, 5, 10, 4, 9, 0})));
  EXPECT_TRUE(Run(MatrixDiagPart(matrix_, {.k = {-1, 2}, .align = "LEFT_RIGHT"}))
                  .Identical(Tensor::Of<float>({4, 3}, {2, 7, 0, 1, 6, 11, 0, 5, 10, 0, 4, 9})));
}

TEST_F(MatrixDiagTest, DiagAndSetDiag) {
  const Output bands = Const(Tensor::Of<float>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(Run(MatrixDiag(bands, {.k = {-1, 1}}))
                  .Identical(Tensor::Of<float>({3, 3}, {4, 2, 0, 7, 5, 3, 0, 8, 6})));
  const Output two = Const(Tensor::Of<float>({2, 3}, {100, 200, 300, 400, 500, 600}));
  EXPECT_TRUE(
      Run(MatrixSetDiag(matrix_, two, {.k = {0, 1}}))
          .Identical(Tensor::Of<float>({3, 4}, {400, 100, 2, 3, 4, 500, 200, 7, 8, 9, 600, 300})));
}

TEST_F(MatrixDiagTest, BandPart) {
  EXPECT_TRUE(Run(MatrixBandPart(matrix_, 1, -1))
                  .Identical(Tensor::Of<float>({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11})));
  EXPECT_TRUE(Run(MatrixBandPart(matrix_, -1, 0))
                  .Identical(Tensor::Of<float>({3, 4}, {0, 0, 0, 0, 4, 5, 0, 0, 8, 9, 10, 0})));
  EXPECT_THROW(Run(MatrixBandPart(matrix_, 5, 0)), Error);
}

TEST_F(MatrixDiagTest, DiagOfAnyRank) {
  const Output x = Const(Tensor::Of<int32_t>({1, 2}, {1, 2}));
  EXPECT_TRUE(Run(Diag(x)).Identical(Tensor::Of<int32_t>({1, 2, 1, 2}, {1, 0, 0, 2})));
  EXPECT_TRUE(Run(DiagPart(Diag(x))).Identical(Tensor::Of<int32_t>({1, 2}, {1, 2})));
  const Output hidden = Placeholder(DType::kFloat, PartialShape());
  const Output part = DiagPart(hidden);
  EXPECT_TRUE(Session(graph_).Run({{hidden, Tensor(2.5f)}}, part).Identical(Tensor(2.5f)));
}

TEST_F(MatrixDiagTest, RefusesDiagonalsOutsideTheMatrix) {
  EXPECT_THROW(Run(MatrixDiagPart(matrix_, {.k = 4})), Error);
  EXPECT_THROW(Run(MatrixDiagPart(matrix_, {.k = {1, 0}})), Error);
}

}  // namespace
}  // namespace sextant
