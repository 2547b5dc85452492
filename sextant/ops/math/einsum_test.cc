#include "sextant/ops/math/einsum.h"

#include <gtest/gtest.h>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/math/einsum_equation.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class EinsumTest : public testing::Test {
 protected:
  // Inputs count up from 1.
  Tensor Run(const std::string& equation, const std::vector<Shape>& shapes) {
    std::vector<Output> inputs;
    for (const Shape& shape : shapes) {
      Tensor x(DType::kFloat, shape);
      for (int64_t i = 0; i < x.num_elements(); ++i) x.data<float>()[i] = static_cast<float>(i + 1);
      inputs.push_back(Const(x));
    }
    return Session(graph_).Run(Einsum(inputs, equation));
  }
  Graph graph_;
  GraphScope scope_{graph_};
};

// Values of TensorFlow 2.15.
TEST_F(EinsumTest, EquationsOfAllKinds) {
  const auto expect = [&](const std::string& equation, const std::vector<Shape>& shapes, Tensor y) {
    const Tensor actual = Run(equation, shapes);
    EXPECT_TRUE(actual.Identical(y)) << equation << "\n" << actual.ToString();
  };
  expect("ij,jk->ik", {{2, 2}, {2, 2}}, Tensor::Of<float>({2, 2}, {7, 10, 15, 22}));
  expect("ij->ji", {{2, 2}}, Tensor::Of<float>({2, 2}, {1, 3, 2, 4}));
  expect("i->ii", {{2}}, Tensor::Of<float>({2, 2}, {1, 0, 0, 2}));
  expect("ii->i", {{2, 2}}, Tensor::Of<float>({1, 4}));
  expect("ii->", {{2, 2}}, Tensor(5.0f));
  expect("i,i->ii", {{2}, {2}}, Tensor::Of<float>({2, 2}, {1, 0, 0, 4}));
  expect("...ij->...", {{2, 2, 2}}, Tensor::Of<float>({10, 26}));
  expect("...i,...i->...", {{2, 1, 2}, {3, 2}}, Tensor::Of<float>({2, 3}, {5, 11, 17, 11, 25, 39}));
  expect("ij,...->...i", {{2, 2}, {1}}, Tensor::Of<float>({1, 2}, {3, 7}));
  expect("ii,ij->j", {{2, 2}, {2, 3}}, Tensor::Of<float>({17, 22, 27}));
  expect("ab...,b...->a...", {{2, 3, 2}, {3, 1}}, Tensor::Of<float>({2, 2}, {22, 28, 58, 64}));
  expect("ij,kl->", {{2, 2}, {2, 2}}, Tensor(100.0f));
  expect(",->", {{}, {}}, Tensor(1.0f));
  expect("ij,jk->ik", {{2, 0}, {0, 2}}, Tensor::Zeros(DType::kFloat, {2, 2}));
}

TEST_F(EinsumTest, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Run("ij,jk", {{2, 2}, {2, 2}}), Error);
  EXPECT_THROW(Run("ij,jk->ik", {{2, 2}, {3, 2}}), Error);
  EXPECT_THROW(Run("ijk->ij", {{2, 2}}), Error);
  EXPECT_THROW(Run("...ij->ij", {{2, 2, 2}}), Error);
  EXPECT_THROW(Run("i,i->i", {{1}, {3}}), Error);
  EXPECT_THROW(Run("i,i,i->i", {{2}, {2}, {2}}), Error);
  EXPECT_THROW(Run("i->j", {{2}}), Error);
  EXPECT_THROW(Run("i...j...->i", {{2, 2}}), Error);
}

TEST(EinsumEquationTest, LabelsOfAnEllipsisAreCountedFromTheEnd) {
  const auto equation = EinsumEquation::Parse("a...b,...->a...", 2);
  const int dots = EinsumEquation::kEllipsis;
  EXPECT_EQ(equation.InputLabels(0, 4), (std::vector<int>{'a', dots + 1, dots, 'b'}));
  EXPECT_EQ(equation.InputLabels(1, 1), (std::vector<int>{dots}));
  EXPECT_EQ(equation.OutputLabels(2), (std::vector<int>{'a', dots + 1, dots}));
}

}  // namespace
}  // namespace sextant
