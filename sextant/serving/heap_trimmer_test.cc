#include "sextant/serving/heap_trimmer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "sextant/base/resident_memory.h"
#include "sextant/testing/sanitizers.h"

namespace sextant::serving {
namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20;

// Small blocks with one in use above them: glibc keeps their pages when they are freed.
class Burst {
 public:
  explicit Burst(int64_t bytes) {
    for (int64_t i = 0; i < bytes / kBlock; ++i) {
      blocks_.push_back(std::make_unique<char[]>(kBlock));
      std::memset(blocks_.back().get(), 1, kBlock);
    }
  }
  void FreeAllButTheLast() { blocks_.erase(blocks_.begin(), blocks_.end() - 1); }

 private:
  static constexpr int64_t kBlock = 16 << 10;
  std::vector<std::unique_ptr<char[]>> blocks_;
};

TEST(HeapTrimmerTest, GivesBackWhatABurstLeft) {
  if (kSanitizerKeepsMemory) GTEST_SKIP() << "a sanitizer has its own malloc";
  HeapTrimmer trimmer;
  HeapTrimmer::Clock::time_point now;
  EXPECT_FALSE(trimmer.TrimIfGrown(now));
  const int64_t before = ResidentBytes();
  Burst burst(128 * kMegabyte);
  burst.FreeAllButTheLast();
  ASSERT_GT(ResidentBytes(), before + 100 * kMegabyte);
  EXPECT_FALSE(trimmer.TrimIfGrown(now));  // it has just looked
  now += HeapTrimmer::kInterval;
  EXPECT_TRUE(trimmer.TrimIfGrown(now));
  EXPECT_LT(ResidentBytes(), before + 20 * kMegabyte);
  now += HeapTrimmer::kInterval;
  EXPECT_FALSE(trimmer.TrimIfGrown(now));  // nothing has grown since
}

TEST(HeapTrimmerTest, LargeBlocksDoNotStay) {
  if (kSanitizerKeepsMemory) GTEST_SKIP() << "a sanitizer has its own malloc";
  const HeapTrimmer trimmer;
  const int64_t before = ResidentBytes();
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int i = 0; i < 10; ++i) {
      blocks.push_back(std::make_unique<char[]>(10 * kMegabyte));
      std::memset(blocks.back().get(), 1, 10 * kMegabyte);
    }
    blocks.erase(blocks.begin(), blocks.end() - 1);
    EXPECT_LT(ResidentBytes(), before + 15 * kMegabyte);
  }
}

TEST(HeapTrimmerTest, FindsWhatIsFreedAfterATrim) {
  if (kSanitizerKeepsMemory) GTEST_SKIP() << "a sanitizer has its own malloc";
  HeapTrimmer trimmer;
  HeapTrimmer::Clock::time_point now;
  const int64_t before = ResidentBytes();
  Burst burst(128 * kMegabyte);
  EXPECT_FALSE(trimmer.TrimIfGrown(now));  // all of it is in use
  trimmer.Trim();
  burst.FreeAllButTheLast();
  now += HeapTrimmer::kInterval;
  EXPECT_TRUE(trimmer.TrimIfGrown(now));
  EXPECT_LT(ResidentBytes(), before + 20 * kMegabyte);
}

}  // namespace
}  // namespace sextant::serving
