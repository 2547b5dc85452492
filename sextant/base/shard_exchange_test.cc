#include "sextant/base/shard_exchange.h"

#include <gtest/gtest.h>

#include <latch>
#include <numeric>
#include <thread>
#include <vector>

#include "sextant/base/error.h"

namespace sextant {
namespace {

TEST(ShardExchangeTest, RunsEveryShardOnceWithoutHelp) {
  ShardExchange exchange;
  EXPECT_FALSE(exchange.Help());
  for (const int count : {1, 2, 7}) {
    std::vector<int> calls(count);
    exchange.Run(0, count, [&](int shard) { ++calls[shard]; });
    EXPECT_EQ(calls, std::vector<int>(count, 1));
  }
  EXPECT_FALSE(exchange.Help());
}

TEST(ShardExchangeTest, AThreadThatWaitsTakesAShard) {
  ShardExchange exchange;
  std::latch both(2);  // is passed only if two shards run at the same time
  std::thread helper([&] {
    while (!exchange.Help()) {
    }
  });
  exchange.Run(3, 2, [&](int) { both.arrive_and_wait(); });
  helper.join();
}

TEST(ShardExchangeTest, LoopsOfAllWorkersAtOnce) {
  ShardExchange exchange;
  std::atomic<int> running = ShardExchange::kMaxWorkers;
  std::vector<std::thread> threads;
  for (int worker = 0; worker < ShardExchange::kMaxWorkers; ++worker) {
    threads.emplace_back([&, worker] {
      for (int loop = 0; loop < 2000; ++loop) {
        std::vector<int64_t> parts(1 + loop % 5);
        exchange.Run(worker, static_cast<int>(parts.size()),
                     [&](int shard) { parts[shard] = loop * 10 + worker; });
        ASSERT_EQ(std::accumulate(parts.begin(), parts.end(), int64_t{0}),
                  static_cast<int64_t>(parts.size()) * (loop * 10 + worker));
        exchange.Help();
      }
      --running;
      while (running > 0) exchange.Help();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ShardExchangeTest, RethrowsTheErrorOfTheLowestShard) {
  ShardExchange exchange;
  std::atomic<bool> stop = false;
  std::thread helper([&] {
    while (!stop) exchange.Help();
  });
  for (int loop = 0; loop < 200; ++loop) {
    try {
      exchange.Run(1, 4, [](int shard) {
        if (shard > 0) throw InvalidArgument("shard {}", shard);
      });
      FAIL() << "no error";
    } catch (const Error& e) {
      ASSERT_STREQ(e.what(), Error(InvalidArgument("shard {}", 1)).what());
    }
  }
  exchange.Run(1, 4, [](int) {});  // forgets
  stop = true;
  helper.join();
}

}  // namespace
}  // namespace sextant
