#include "sextant/runtime/passes/pass_test.h"

namespace sextant {
namespace {

using NarrowProductsTest = PassTest;

TEST_F(NarrowProductsTest, OnlyTheColumnsThatAreReadAreComputed) {
  const Output a = Feed({12, 16}), b = Feed({20, 16});
  Copy({Slice(MatMul(a, b, {.transpose_b = true}), {0, 5}, {12, 8})});
  Apply(NarrowProducts, 1e-6);
  ASSERT_EQ(ShapesOf("MatMul").size(), 1u);
  EXPECT_EQ(ShapesOf("MatMul")[0], (PartialShape{12, 8}));
}

TEST_F(NarrowProductsTest, AProductThatIsReadAsAWholeStays) {
  const Output product = MatMul(Feed({12, 16}), Feed({20, 16}), {.transpose_b = true});
  Copy({Slice(product, {0, 5}, {12, 8}), product});
  Apply(NarrowProducts);
  EXPECT_EQ(ShapesOf("MatMul")[0], (PartialShape{12, 20}));
}

TEST_F(NarrowProductsTest, RowsAreAddedUpBeforeTheyAreMultiplied) {
  const Output product = MatMul(Feed({12, 16}), Feed({8, 16}), {.transpose_b = true});
  Copy({UnsortedSegmentSum(product, FeedIds(12, 4), 4)});
  Apply(SumRowsFirst, 1e-5);
  ASSERT_EQ(ShapesOf("MatMul").size(), 1u);
  EXPECT_EQ(ShapesOf("MatMul")[0], (PartialShape{4, 8}));
}

TEST_F(NarrowProductsTest, MoreSumsThanRowsAreNotMultiplied) {
  const Output product = MatMul(Feed({12, 16}), Feed({8, 16}), {.transpose_b = true});
  Copy({UnsortedSegmentSum(product, FeedIds(12, 4), 40)});
  Apply(SumRowsFirst);
  EXPECT_EQ(ShapesOf("MatMul")[0], (PartialShape{12, 8}));
}

}  // namespace
}  // namespace sextant
