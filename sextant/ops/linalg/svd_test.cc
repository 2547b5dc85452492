// The expected gradients are those of TensorFlow.
#include "sextant/ops/linalg/svd.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/strided_slice.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

// Of sum(s * [1,2]) + sum(u diag(1,3) v^T * [[1,2,..],..]), in which the signs of u and v do not
// matter.
void ExpectGradient(const Shape& shape, bool full_matrices, std::initializer_list<double> values) {
  Graph graph;
  const GraphScope scope(graph);
  const double elements[] = {3, 1, 0.5, -2, 1, 2};
  const double weights[] = {1, 2, 3, 4, 5, 6};
  const auto count = static_cast<size_t>(shape.num_elements());
  const Output x = Const(Tensor::FromSpan<double>(shape, std::span(elements, count)));
  const SvdResult svd = Svd(x, {.full_matrices = full_matrices});
  const auto two_columns = [](Output y) {
    return StridedSlice(y, {SliceAll(), SliceRange({}, 2)});
  };
  const Output product = BatchMatMul(two_columns(svd.u) * Const(Tensor::Of<double>({1, 2}, {1, 3})),
                                     two_columns(svd.v), {.adj_y = true});
  const Output grad =
      Gradients({svd.s, product}, {x},
                {.grad_ys = {Const(Tensor::Of<double>({1, 2})),
                             Const(Tensor::FromSpan<double>(shape, std::span(weights, count)))}})[0]
          .dense();
  const Tensor got = Session(graph).Run(grad);
  ASSERT_EQ(got.shape(), shape);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_NEAR(got.data<double>()[i], values.begin()[i], 1e-10) << i;
  }
}

TEST(SvdTest, GradientOfSquareMatrices) {
  ExpectGradient({2, 2}, false,
                 {-0.8848199506062551, 4.785636883859778, 0.2240582097602066, -2.5140033751934245});
}

TEST(SvdTest, GradientOfWideMatrices) {
  for (const bool full : {false, true}) {
    ExpectGradient({2, 3}, full,
                   {2.0923308648809877, 0.10459957735917502, -0.03584549839837886,
                    1.2724175763497119, 1.1927014994980225, 1.7045734712420968});
  }
}

TEST(SvdTest, GradientOfTallMatrices) {
  ExpectGradient({3, 2}, false,
                 {0.3510267947827572, -0.0046222954636487845, 1.6400395555876348,
                  0.03408360467402227, -0.38151368162392607, 3.5009428681896377});
}

TEST(SvdTest, OfNumbersThatAreNotFiniteIsNan) {
  Graph graph;
  const GraphScope scope(graph);
  const Output x = Const(Tensor::Of<double>({2, 2, 1}, {3, 4, HUGE_VAL, 4}));
  const SvdResult svd = Svd(x, {.full_matrices = true}), only = Svd(x, {.compute_uv = false});
  Session session(graph);
  for (const Output& y : {svd.s, svd.u, svd.v, only.s}) {
    const Tensor got = session.Run(y);
    const int64_t half = got.num_elements() / 2;
    for (int64_t i = 0; i < 2 * half; ++i) {
      EXPECT_EQ(std::isnan(got.data<double>()[i]), i >= half) << y.name() << " " << i;
    }
  }
}

}  // namespace
}  // namespace sextant
