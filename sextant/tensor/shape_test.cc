#include "sextant/tensor/shape.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"

namespace sextant {
namespace {

constexpr int64_t kHuge = int64_t{1} << 40;

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(Shape().num_elements(), 1);
  EXPECT_EQ((Shape{2, 3}).num_elements(), 6);
  EXPECT_EQ((Shape{2, 0, 3}).num_elements(), 0);
  EXPECT_EQ((Shape{2, 3}).ToString(), "[2,3]");
  EXPECT_EQ(Shape().ToString(), "[]");
}

TEST(ShapeTest, Edits) {
  Shape s{2, 3};
  s.Append(4);
  s.Insert(0, 5);
  EXPECT_EQ(s, (Shape{5, 2, 3, 4}));
  s.Erase(1);
  s.set_dim(0, 7);
  EXPECT_EQ(s, (Shape{7, 3, 4}));
  EXPECT_EQ(s.num_elements(), 84);
}

TEST(ShapeTest, LongShapesLiveOnTheHeapAndCopy) {
  Shape s;
  for (int i = 1; i <= 9; ++i) s.Append(i);
  Shape copy = s;
  copy.set_dim(8, 1);
  EXPECT_EQ(s.ToString(), "[1,2,3,4,5,6,7,8,9]");
  EXPECT_EQ(copy.num_elements(), 40320);
  for (int i = 0; i < 5; ++i) copy.Erase(0);
  EXPECT_EQ(copy, (Shape{6, 7, 8, 1}));
  s = copy;
  EXPECT_EQ(s, copy);
  const Shape moved = std::move(s);
  EXPECT_EQ(moved, copy);
}

TEST(ShapeTest, RefusesBadSizes) {
  EXPECT_THROW((Shape{-1}), Error);
  EXPECT_THROW((Shape{kHuge, kHuge}), Error);
  EXPECT_THROW((Shape{0, kHuge, kHuge}), Error);
  EXPECT_THROW(Shape(std::vector<int64_t>(255, 1)), Error);
  EXPECT_EQ(Shape(std::vector<int64_t>(254, 1)).rank(), 254);
  Shape s{kHuge};
  EXPECT_THROW(s.Append(kHuge), Error);
}

TEST(PartialShapeTest, Knowledge) {
  EXPECT_FALSE(PartialShape().rank_known());
  EXPECT_FALSE((PartialShape{-1, 3}).fully_known());
  EXPECT_TRUE((PartialShape{2, 3}).fully_known());
  EXPECT_EQ((PartialShape{2, 3}).AsShape(), (Shape{2, 3}));
  EXPECT_EQ((PartialShape{2, 3}).num_elements(), 6);
  EXPECT_EQ((PartialShape{2, -1}).num_elements(), PartialShape::kUnknown);
  EXPECT_EQ(PartialShape::UnknownOfRank(2), (PartialShape{-1, -1}));
  EXPECT_EQ((PartialShape{-1, 3}).ToString(), "[?,3]");
  EXPECT_EQ(PartialShape().ToString(), "<unknown>");
  EXPECT_NE(PartialShape(), PartialShape(Shape()));
  EXPECT_THROW((PartialShape{-2}), Error);
  EXPECT_THROW((PartialShape{-1}).AsShape(), Error);
  EXPECT_THROW(PartialShape(std::vector<int64_t>(300, 1)), Error);
}

TEST(PartialShapeTest, MergeAddsKnowledge) {
  const PartialShape a{-1, 3}, b{2, -1};
  EXPECT_TRUE(a.CompatibleWith(b));
  EXPECT_EQ(a.MergeWith(b), (PartialShape{2, 3}));
  EXPECT_EQ(PartialShape().MergeWith(a), a);
  EXPECT_EQ(a.MergeWith(PartialShape()), a);
  EXPECT_FALSE(a.CompatibleWith(PartialShape{2, 4}));
  EXPECT_FALSE(a.CompatibleWith(PartialShape{2}));
  EXPECT_THROW(a.MergeWith(PartialShape{2, 4}), Error);
  EXPECT_THROW(a.MergeWith(PartialShape{3}), Error);
}

TEST(PartialShapeTest, RelaxKeepsWhatBothSay) {
  const PartialShape a{2, 3};
  EXPECT_EQ(a.RelaxWith(PartialShape{2, 4}), (PartialShape{2, -1}));
  EXPECT_EQ(a.RelaxWith(PartialShape{-1, 3}), (PartialShape{-1, 3}));
  EXPECT_EQ(a.RelaxWith(PartialShape{2}), PartialShape());
  EXPECT_EQ(a.RelaxWith(PartialShape()), PartialShape());
  EXPECT_EQ(a.RelaxWith(a), a);
}

}  // namespace
}  // namespace sextant
