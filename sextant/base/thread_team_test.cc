#include "sextant/base/thread_team.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>

#include "sextant/base/error.h"
#include "sextant/base/shard_exchange.h"
#include "sextant/testing/sanitizers.h"

namespace sextant {
namespace {

using Bounds = std::vector<std::pair<int64_t, int64_t>>;

Bounds ShardsOf(ThreadTeam& team, int64_t total, int64_t grain) {
  Bounds bounds(team.NumShards(total, grain));
  team.ParallelShards(total, grain, [&](int shard, int64_t begin, int64_t end) {
    bounds[shard] = {begin, end};
  });
  return bounds;
}

TEST(ThreadTeamTest, CutsIntoEqualContiguousShards) {
  ThreadTeam team(4);
  EXPECT_EQ(ShardsOf(team, 10, 1), (Bounds{{0, 2}, {2, 5}, {5, 7}, {7, 10}}));
  EXPECT_EQ(ShardsOf(team, 10, 4), (Bounds{{0, 3}, {3, 6}, {6, 10}}));
  EXPECT_EQ(ShardsOf(team, 10, 10), (Bounds{{0, 10}}));
  EXPECT_EQ(ShardsOf(team, 2, 1), (Bounds{{0, 1}, {1, 2}}));
  EXPECT_EQ(ShardsOf(team, 0, 1), Bounds{});
  EXPECT_EQ(ShardsOf(team, -5, 1), Bounds{});
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ShardsOf(team, huge, 1).back(), std::pair(huge / 4 * 3 + 2, huge));
}

TEST(ThreadTeamTest, CoversEveryIndexOnceOverManyJobs) {
  ThreadTeam team(3);
  std::vector<int> counts(100);
  for (int job = 0; job < 20000; ++job) {
    team.ParallelFor(100, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++counts[i];
    });
  }
  EXPECT_EQ(counts, std::vector<int>(100, 20000));
}

TEST(ThreadTeamTest, NestedJobsRunInlineWithTheSameShards) {
  ThreadTeam team(3);
  std::vector<Bounds> inner(3);
  team.ParallelShards(3, 1, [&](int shard, int64_t, int64_t) {
    const auto self = std::this_thread::get_id();
    Bounds& bounds = inner[shard];
    team.ParallelFor(9, 1, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      bounds.emplace_back(begin, end);
    });
  });
  for (const Bounds& bounds : inner) EXPECT_EQ(bounds, (Bounds{{0, 3}, {3, 6}, {6, 9}}));
}

TEST(ThreadTeamTest, ConcurrentCallersAllFinishWithTheSameShards) {
  ThreadTeam team(2);
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int job = 0; job < 2000; ++job) {
        ASSERT_EQ(ShardsOf(team, 7, 1), (Bounds{{0, 3}, {3, 7}}));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(ThreadTeamTest, BusyTeamDoesNotBlockAnotherCaller) {
  ThreadTeam team(2);
  std::barrier both(2);
  std::thread other;
  team.ParallelShards(2, 1, [&](int shard, int64_t, int64_t) {
    if (shard == 0) {
      other = std::thread([&] {
        EXPECT_EQ(ShardsOf(team, 4, 1), (Bounds{{0, 2}, {2, 4}}));
        both.arrive_and_wait();
      });
      both.arrive_and_wait();
    }
  });
  other.join();
}

TEST(ThreadTeamTest, RethrowsTheErrorOfTheLowestShard) {
  ThreadTeam team(4);
  for (int job = 0; job < 200; ++job) {
    try {
      team.ParallelShards(4, 1, [](int shard, int64_t, int64_t) {
        if (shard > 0) throw InvalidArgument("shard {}", shard);
      });
      FAIL() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.message(), "shard 1");
    }
  }
  EXPECT_EQ(ShardsOf(team, 4, 1).size(), 4u);
}

TEST(ThreadTeamTest, LimitReachesNestedJobsAndEnds) {
  ThreadTeam team(4);
  {
    ThreadTeam::Limit two(2);
    ThreadTeam::Limit three(3);
    EXPECT_EQ(team.NumShards(100, 1), 2);
    team.ParallelFor(2, 1, [&](int64_t, int64_t) { EXPECT_EQ(team.NumShards(100, 1), 2); });
    ThreadTeam::Limit one(0);
    team.ParallelFor(100, 1, [&, self = std::this_thread::get_id()](int64_t, int64_t end) {
      EXPECT_EQ(end, 100);
      EXPECT_EQ(std::this_thread::get_id(), self);
    });
  }
  EXPECT_EQ(team.NumShards(100, 1), 4);
}

TEST(ThreadTeamTest, AllThreadsWorkAtOnce) {
  ThreadTeam team(3);
  for (int job = 0; job < 100; ++job) {
    std::barrier all(3);
    std::vector<std::thread::id> ids(3);
    team.ParallelShards(3, 1, [&](int shard, int64_t, int64_t) {
      ids[shard] = std::this_thread::get_id();
      all.arrive_and_wait();
    });
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 3u);
  }
}

TEST(ThreadTeamTest, SharingOffersTheSameShards) {
  ThreadTeam team(4);
  const Bounds bounds = ShardsOf(team, 10, 1);
  ShardExchange exchange;
  std::atomic<bool> stop = false;
  std::thread helper([&] {
    while (!stop) exchange.Help();
  });
  {
    const ThreadTeam::Limit limit(4);
    const ThreadTeam::Sharing sharing(exchange, 1);
    for (int job = 0; job < 200; ++job) EXPECT_EQ(ShardsOf(team, 10, 1), bounds);
    team.ParallelFor(4, 1, [&](int64_t, int64_t) {  // loops in a shard are its thread's own
      const auto self = std::this_thread::get_id();
      team.ParallelFor(100, 1,
                       [&](int64_t, int64_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
    });
  }
  stop = true;
  helper.join();
  EXPECT_EQ(ShardsOf(team, 10, 1), bounds);
}

TEST(ThreadTeamTest, TeamOfOneRunsInline) {
  ThreadTeam team(-1);
  EXPECT_EQ(team.size(), 1);
  EXPECT_EQ(ShardsOf(team, 10, 1), (Bounds{{0, 10}}));
}

// Those that were started end, and the error says what to do.
TEST(ThreadTeamTest, ThrowsWhenTheSystemStartsNoMoreThreads) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "they reserve terabytes of addresses";
  const auto make = [] {
    const rlimit most = {1 << 30, 1 << 30};
    setrlimit(RLIMIT_AS, &most);
    try {
      ThreadTeam team(2000);  // 16 GB of stacks
    } catch (...) {
      std::fputs(CurrentStatus().ToString().c_str(), stderr);
      std::_Exit(3);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(make(), testing::ExitedWithCode(3),
              "RESOURCE_EXHAUSTED: a thread could not be started: .*; use fewer threads, or raise");
}

TEST(ThreadTeamTest, ProcessTeamIsOne) {
  EXPECT_EQ(&ThreadTeam::Process(), &ThreadTeam::Process());
  EXPECT_GE(ThreadTeam::Process().size(), 1);
}

}  // namespace
}  // namespace sextant
