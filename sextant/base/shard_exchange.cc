#include "sextant/base/shard_exchange.h"

#include <thread>
#include <utility>

#include "sextant/base/pause.h"

namespace sextant {
namespace {

constexpr int kPausesBeforeYield = 500;
constexpr uint64_t kOneShard = 1 << 16, kOneLoop = uint64_t{1} << 32;

int Next(uint64_t state) { return static_cast<int>(state >> 16 & 0xffff); }
int NumShards(uint64_t state) { return static_cast<int>(state & 0xffff); }

}  // namespace

bool ShardExchange::RunOne(Offer& offer) {
  uint64_t state = offer.state.load(std::memory_order_relaxed);
  do {
    if (Next(state) >= NumShards(state)) return false;
  } while (!offer.state.compare_exchange_weak(state, state + kOneShard, std::memory_order_acquire,
                                              std::memory_order_relaxed));
  const int shard = Next(state);
  try {
    (*offer.fn)(shard);
  } catch (...) {
    std::lock_guard lock(offer.error_mutex);
    if (!offer.error || shard < offer.error_shard) {
      offer.error = std::current_exception();
      offer.error_shard = shard;
    }
  }
  offer.unfinished.fetch_sub(1, std::memory_order_release);
  return true;
}

void ShardExchange::Run(int seat, int num_shards, FunctionRef<void(int shard)> fn) {
  Offer& offer = offers_[seat];
  offer.fn = &fn;
  offer.unfinished.store(num_shards, std::memory_order_relaxed);
  const uint64_t loop = offer.state.load(std::memory_order_relaxed) / kOneLoop + 1;
  offer.state.store(loop * kOneLoop + static_cast<uint64_t>(num_shards), std::memory_order_release);
  while (RunOne(offer)) {
  }
  for (int tries = 0; offer.unfinished.load(std::memory_order_acquire) != 0; ++tries) {
    if (tries < kPausesBeforeYield) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
  if (offer.error) std::rethrow_exception(std::exchange(offer.error, nullptr));
}

bool ShardExchange::Help() {
  for (Offer& offer : offers_) {
    if (RunOne(offer)) return true;
  }
  return false;
}

}  // namespace sextant
