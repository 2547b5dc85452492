#include "sextant/runtime/memory_planner.h"

#include <gtest/gtest.h>

#include <random>

namespace sextant {
namespace {

bool Overlap(const Lifetime& a, const Lifetime& b) {
  const bool in_time = a.first <= b.last && b.first <= a.last;
  return in_time && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

TEST(MemoryPlannerTest, ReusesMemoryOfEndedValues) {
  std::vector<Lifetime> values = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}, {100, 3, 4}};
  EXPECT_EQ(PlanArena(values), 256);  // two at a time, each rounded up to 128
  EXPECT_EQ(values[2].offset, values[0].offset);
}

TEST(MemoryPlannerTest, TakesTheSmallestBlockThatFits) {
  std::vector<Lifetime> values = {{1024, 0, 0}, {64, 0, 2}, {128, 0, 0}, {64, 0, 2}, {128, 1, 2}};
  PlanArena(values);
  EXPECT_EQ(values[4].offset, values[2].offset);
}

TEST(MemoryPlannerTest, MergesNeighboursThatEnded) {
  std::vector<Lifetime> values = {{64, 0, 0}, {64, 0, 0}, {64, 0, 2}, {128, 1, 2}};
  EXPECT_EQ(PlanArena(values), 192);
}

TEST(MemoryPlannerTest, NeverOverlapsValuesThatLiveTogether) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<Lifetime> values;
    for (int i = 0; i < 200; ++i) {
      const auto first = static_cast<int32_t>(i / 2);
      values.push_back({static_cast<int64_t>(random() % 5000), first,
                        first + static_cast<int32_t>(random() % 20)});
    }
    const int64_t size = PlanArena(values);
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i].offset % 64, 0);
      EXPECT_LE(values[i].offset + values[i].bytes, size);
      for (size_t k = 0; k < i; ++k) EXPECT_FALSE(Overlap(values[i], values[k])) << i << " " << k;
    }
  }
}

}  // namespace
}  // namespace sextant
