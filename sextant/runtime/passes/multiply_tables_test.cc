#include "sextant/runtime/passes/pass_test.h"

namespace sextant {
namespace {

using MultiplyTablesTest = PassTest;

TEST_F(MultiplyTablesTest, TheTableIsMultipliedInPlaceOfItsRows) {
  const Output table = Feed({4, 16}), weights = Feed({16, 20});
  Copy({MatMul(Gather(table, FeedIds(12, 4)), weights)});
  Apply(MultiplyTables, 1e-6);
  ASSERT_EQ(ShapesOf("MatMul").size(), 1u);
  EXPECT_EQ(ShapesOf("MatMul")[0], (PartialShape{4, 20}));
  EXPECT_EQ(After("GatherV2"), 1);
}

TEST_F(MultiplyTablesTest, ColumnsThatAreNotGatheredAreMultipliedAsBefore) {
  const Output table = Feed({4, 16}), rest = Feed({12, 3}), weights = Feed({19, 20});
  Copy({MatMul(Concat({Gather(table, FeedIds(12, 4)), rest}, 1), weights)});
  Apply(MultiplyTables, 1e-6);
  std::vector<PartialShape> shapes = ShapesOf("MatMul");
  ASSERT_EQ(shapes.size(), 2u);
  if (shapes[0][0] == 12) std::swap(shapes[0], shapes[1]);
  EXPECT_EQ(shapes[0], (PartialShape{4, 20}));
  EXPECT_EQ(shapes[1], (PartialShape{12, 20}));
}

TEST_F(MultiplyTablesTest, ATableOfAsManyRowsAsAreGatheredStays) {
  const Output table = Feed({12, 16}), weights = Feed({16, 20});
  Copy({MatMul(Gather(table, FeedIds(12, 12)), weights)});
  Apply(MultiplyTables);
  EXPECT_EQ(ShapesOf("MatMul")[0], (PartialShape{12, 20}));
}

}  // namespace
}  // namespace sextant
