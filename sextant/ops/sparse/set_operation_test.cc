// The expected values are those of TensorFlow.
#include "sextant/ops/sparse/set_operation.h"

#include <gtest/gtest.h>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class SetOperationTest : public testing::Test {
 protected:
  void Expect(const SparseTensor& sets, const Tensor& indices, const Tensor& values,
              const Tensor& shape) {
    const auto got = Session(graph_).Run({sets.indices, sets.values, sets.dense_shape});
    EXPECT_TRUE(got[0].Identical(indices)) << got[0].ToString();
    EXPECT_TRUE(got[1].Identical(values)) << got[1].ToString();
    EXPECT_TRUE(got[2].Identical(shape)) << got[2].ToString();
  }
  static SparseTensor Sparse(const Tensor& indices, const Tensor& values, const Tensor& shape) {
    return {Const(indices), Const(values), Const(shape)};
  }
  std::string ErrorOf(Output y) {
    return StatusOf([&] { Session(graph_).Run(y); }).ToString();
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(SetOperationTest, DenseSets) {
  const Output a = Const(Tensor::Of<int32_t>({2, 4}, {1, 9, 3, 1, 4, 4, 2, 0}));
  const Output b = Const(Tensor::Of<int32_t>({2, 3}, {3, 1, 7, 2, 0, 0}));
  Expect(SetOperation(a, b, "a-b"), Tensor::Of<int64_t>({2, 2}, {0, 0, 1, 0}),
         Tensor::Of<int32_t>({9, 4}), Tensor::Of<int64_t>({2, 1}));
  Expect(SetOperation(a, b, "B-A"), Tensor::Of<int64_t>({1, 2}, {0, 0}), Tensor::Of<int32_t>({7}),
         Tensor::Of<int64_t>({2, 1}));
  Expect(SetOperation(a, b, "intersection"), Tensor::Of<int64_t>({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}),
         Tensor::Of<int32_t>({1, 3, 0, 2}), Tensor::Of<int64_t>({2, 2}));
  Expect(SetOperation(a, b, "union"),
         Tensor::Of<int64_t>({7, 2}, {0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1, 1, 2}),
         Tensor::Of<int32_t>({1, 3, 7, 9, 0, 2, 4}), Tensor::Of<int64_t>({2, 4}));
}

TEST_F(SetOperationTest, SparseSets) {
  const SparseTensor a = Sparse(Tensor::Of<int64_t>({3, 2}, {0, 0, 0, 1, 1, 0}),
                                Tensor::Of<int32_t>({3, 9, 2}), Tensor::Of<int64_t>({2, 3}));
  const SparseTensor b = Sparse(Tensor::Of<int64_t>({3, 2}, {0, 0, 1, 0, 1, 1}),
                                Tensor::Of<int32_t>({9, 5, 2}), Tensor::Of<int64_t>({2, 2}));
  Expect(SetOperation(a, b, "union"), Tensor::Of<int64_t>({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}),
         Tensor::Of<int32_t>({3, 9, 2, 5}), Tensor::Of<int64_t>({2, 2}));
  const Output dense = Const(Tensor::Of<int32_t>({2, 4}, {1, 9, 3, 1, 4, 4, 2, 0}));
  Expect(SetOperation(dense, a, "a-b"), Tensor::Of<int64_t>({3, 2}, {0, 0, 1, 0, 1, 1}),
         Tensor::Of<int32_t>({1, 0, 4}), Tensor::Of<int64_t>({2, 2}));
  const SparseTensor three = Sparse(Tensor::Of<int64_t>({3, 2}, {0, 0, 0, 1, 1, 0}),
                                    Tensor::Of<int32_t>({3, 3, 2}), Tensor::Of<int64_t>({3, 3}));
  EXPECT_TRUE(Session(graph_).Run(SetSize(three)).Identical(Tensor::Of<int32_t>({1, 1, 0})));
}

TEST_F(SetOperationTest, SetsOfStrings) {
  Expect(SetOperation(Const(Tensor::Of<std::string>({1, 2}, {"b", "a"})),
                      Const(Tensor::Of<std::string>({1, 2}, {"a", "c"})), "union"),
         Tensor::Of<int64_t>({3, 2}, {0, 0, 0, 1, 0, 2}), Tensor::Of<std::string>({"a", "b", "c"}),
         Tensor::Of<int64_t>({1, 3}));
}

TEST_F(SetOperationTest, Errors) {
  const Output a = Const(Tensor::Of<int32_t>({1, 2}, {1, 2}));
  const Output two = Const(Tensor::Of<int32_t>({2, 1}, {1, 2}));
  EXPECT_NE(ErrorOf(SetOperation(a, two, "union").values).find("[1] vs [2]"), std::string::npos);
  EXPECT_NE(ErrorOf(SetOperation(a, a, "sum").values).find("set_operation sum"), std::string::npos);
  const SparseTensor unordered = Sparse(Tensor::Of<int64_t>({2, 2}, {0, 1, 0, 0}),
                                        Tensor::Of<int32_t>({1, 2}), Tensor::Of<int64_t>({1, 2}));
  EXPECT_NE(ErrorOf(SetSize(unordered)).find("out of order"), std::string::npos);
}

}  // namespace
}  // namespace sextant
