#include "sextant/runtime/passes/pass_test.h"

namespace sextant {
namespace {

class ReadTablesTest : public PassTest {
 protected:
  // Products of rows of a variable of "rows" rows, gathered three times, 12 rows each.
  void Build(int32_t rows, bool changes) {
    const Variable table("table", PseudoRandom({rows, 16}, 21));
    const Output weights = Feed({16, 5});
    std::vector<Output> fetches;
    for (int i = 0; i < 3; ++i) {
      fetches.push_back(MatMul(ResourceGather(table.handle(), FeedIds(12, rows)), weights));
      if (changes && i == 0) fetches.push_back(table.AssignAdd(Ones({rows, 16})));
    }
    Copy(fetches);
  }
};

TEST_F(ReadTablesTest, ASmallTableIsReadOnce) {
  Build(4, /*changes=*/false);
  Apply(ReadTables);
  EXPECT_EQ(Before("ResourceGather"), 3);
  EXPECT_EQ(After("ResourceGather"), 0);
  EXPECT_EQ(After("GatherV2"), 3);
  EXPECT_EQ(After("ReadVariableOp"), Before("ReadVariableOp") + 1);
}

TEST_F(ReadTablesTest, ALargeTableIsNot) {
  Build(100, /*changes=*/false);
  Apply(ReadTables);
  EXPECT_EQ(After("ResourceGather"), 3);
}

TEST_F(ReadTablesTest, ATableThatChangesBetweenIsNot) {
  Build(4, /*changes=*/true);
  Apply(ReadTables);
  EXPECT_EQ(After("ResourceGather"), 3);
}

}  // namespace
}  // namespace sextant
