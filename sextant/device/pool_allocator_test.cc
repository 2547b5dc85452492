#include "sextant/device/pool_allocator.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/tensor/tensor.h"

namespace sextant {
namespace {

TEST(PoolAllocatorTest, GivesFreedBlocksOutAgain) {
  const auto pool = PoolAllocator::New();
  void* first = pool->Allocate(1000);
  pool->Free(first, 1000);
  EXPECT_EQ(pool->Allocate(1020), first);  // the same class: 1024
  pool->Free(first, 1020);
  EXPECT_EQ(pool->statistics().kept, 1024u);
  EXPECT_EQ(pool->statistics().in_use, 0u);
}

TEST(PoolAllocatorTest, BlocksHoldWhatWasAskedForAndAtMostAQuarterMore) {
  for (size_t bytes = 0; bytes < 100'000; bytes = bytes * 9 / 8 + 1) {
    const auto pool = PoolAllocator::New();
    void* memory = pool->Allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % kBufferAlignment, 0u);
    EXPECT_GE(pool->statistics().in_use, bytes);
    EXPECT_LE(pool->statistics().in_use, bytes + bytes / 4 + 64);
    pool->Free(memory, bytes);
    EXPECT_EQ(pool->statistics().in_use, 0u);
  }
}

TEST(PoolAllocatorTest, LimitNamesTheNumbers) {
  const auto pool = PoolAllocator::New({.limit = 4096});
  void* memory = pool->Allocate(1024);
  try {
    pool->Allocate(3200);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kResourceExhausted);
    EXPECT_EQ(e.message(), "3200 bytes requested, 1024 in use, limit 4096");
  }
  EXPECT_THROW(pool->Allocate(SIZE_MAX), Error);
  pool->Free(memory, 1024);
  void* all = pool->Allocate(4096);  // the kept block makes room
  EXPECT_EQ(pool->statistics().kept, 0u);
  pool->Free(all, 4096);
  EXPECT_EQ(pool->statistics().peak, 4096u);
  pool->ResetPeak();
  EXPECT_EQ(pool->statistics().peak, 0u);
}

TEST(PoolAllocatorTest, FreesBeyondTheCapGoBack) {
  const auto pool = PoolAllocator::New({.max_kept = 256});
  void* a = pool->Allocate(256);
  void* b = pool->Allocate(256);
  pool->Free(a, 256);
  pool->Free(b, 256);
  EXPECT_EQ(pool->statistics().kept, 256u);
}

TEST(PoolAllocatorTest, KeepsHalfOfWhatIsInUse) {
  const auto pool = PoolAllocator::New({.max_kept = 256});
  void* used = pool->Allocate(4096);
  std::vector<void*> freed;
  for (int i = 0; i < 12; ++i) freed.push_back(pool->Allocate(256));
  for (void* memory : freed) pool->Free(memory, 256);
  // The ninth leaves 4,864 in use, more than twice the 2,304 kept; the tenth would not.
  EXPECT_EQ(pool->statistics().kept, 9 * 256u);
  pool->Free(used, 4096);
}

TEST(PoolAllocatorTest, BuffersMayOutliveTheOwner) {
  Tensor kept;
  {
    const auto pool = PoolAllocator::New();
    kept = Tensor(DType::kFloat, Shape{100}, *pool);
    const Tensor dropped(DType::kFloat, Shape{200}, *pool);
  }
  kept.data<float>()[99] = 1;
  EXPECT_EQ(kept.data<float>()[99], 1);
}

TEST(PoolAllocatorTest, ThreadsGetBlocksOfTheirOwn) {
  const auto pool = PoolAllocator::New();
  std::vector<std::vector<void*>> blocks(4);
  std::vector<std::thread> threads;
  for (auto& mine : blocks) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        pool->Free(pool->Allocate(128), 128);
        mine.push_back(pool->Allocate(128));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<void*> all;
  for (auto& mine : blocks) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 800u);
  for (void* memory : all) pool->Free(memory, 128);
}

}  // namespace
}  // namespace sextant
