// Each worker has one slot for a loop on offer. The slot's state is one 64-bit word: the number of
// the loop, its next shard that nobody has taken, and how many shards it has. A shard is taken by a
// compare-and-swap that increments the middle part; who succeeds runs it.
//
//   63        32 31      16 15       0
//   | loop  17 | next   3 | shards 8 |     shards 0 to 2 are taken; +1 << 16 takes the fourth
//
// Invariant: the state of a loop cannot come back (its number is part of the word), so a thread
// that read the word of an old loop fails its swap, and a thread that succeeds holds a shard of the
// loop whose function is in the slot: that loop ends only when all its shards have.
//
// Chase and Lev, Dynamic circular work-stealing deque, 2005, is the general form; here nothing is
// pushed while a loop runs, so a counter does.
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

void ShardExchange::Run(int worker, int num_shards, FunctionRef<void(int shard)> fn) {
  Offer& offer = offers_[worker];
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
