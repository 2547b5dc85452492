// Three ways compete: a batch takes what is there, waits for half of the crowd, or for all of it.
// The crowd is the most rows that were waiting or running at a time, lately; of clients that ask
// again when they are answered it is all of them. Time is cut into epochs of eight rows for each of
// the crowd; one way is used in an epoch, and its rate kept as a moving average. Each way is tried
// twice, then the best is used and another tried for one epoch in 33, or when the rate has changed
// by half: an epsilon-greedy multi-armed bandit with three arms.
//
// Requests that come at their own rate have that rate whichever way is used, and no batch should
// wait. They are known by their number, which goes up and down, while of clients that ask again
// nearly all are there at any time: on average more than half of the most.
//
// Example: 16 clients, a run of n rows takes 1 ms + n * 0.05 ms on one thread. Taking what is there
// makes two groups of 8 that wait for each other: 16 rows in 2.8 ms. Waiting for all takes 1.8 ms
// and the time in which the clients come back.
#include "sextant/serving/batch_steering.h"

#include <algorithm>
#include <cmath>

namespace sextant::serving {
namespace {

constexpr int64_t kRounds = 8;    // in which all of the crowd are answered once, of an epoch
constexpr int64_t kSettling = 2;  // such rounds before it, in which the last way still shows
constexpr int64_t kTrialEvery = 32, kSurprisesEvery = 8;  // epochs
constexpr int kSamples = 2;                               // of each way, before one is chosen
constexpr double kSurprise = 0.5, kPresent = 0.5;
// What a way is worth beside its rate: all else being equal, the one that waits less is better.
constexpr double kWorth[] = {1.03, 1.01, 1};
// Longer without requests: what was measured before belongs to other times.
constexpr std::chrono::milliseconds kPause{100};

}  // namespace

int64_t BatchSteering::WantedRows() const {
  return way_ == 0 ? 1 : way_ == 1 ? (crowd_ + 1) / 2 : crowd_;
}

void BatchSteering::Pass(Time now) {
  presence_ += static_cast<double>(outstanding_ * (now - last_).count());
  last_ = now;
}

void BatchSteering::Begin(int way) {
  way_ = way;
  settling_ = kSettling * crowd_;
  ended_ = 0;
  presence_ = 0;
  most_ = outstanding_;
}

void BatchSteering::Forget() {
  for (Way& way : ways_) way = {};
  since_trial_ = 0;
}

void BatchSteering::Arrived(Time now, int64_t rows) {
  if (outstanding_ == 0 && now - last_ > kPause) Begin(way_);
  Pass(now);
  outstanding_ += rows;
  most_ = std::max(most_, outstanding_);
  if (outstanding_ <= crowd_) return;
  const bool others = 4 * outstanding_ > 5 * crowd_;
  crowd_ = outstanding_;
  if (!others) return;
  Forget();
  Begin(0);
}

void BatchSteering::Ended(Time now, int64_t rows) {
  Pass(now);
  outstanding_ -= rows;
  if (settling_ > 0) {
    settling_ -= rows;
    begun_ = now;
    presence_ = 0;
    most_ = outstanding_;
    return;
  }
  ended_ += rows;
  if (ended_ < kRounds * crowd_ || now <= begun_) return;
  EndEpoch(now - begun_);
}

void BatchSteering::EndEpoch(std::chrono::nanoseconds time) {
  const double rate = static_cast<double>(ended_) / static_cast<double>(time.count());
  const bool others = 4 * crowd_ > 5 * most_;  // they have become fewer
  crowd_ = std::max<int64_t>(1, most_);
  if (others) {
    Forget();
    return Begin(0);
  }
  if (way_ == 0) {
    come_again_ = presence_ > kPresent * static_cast<double>(most_ * time.count());
  }
  Way& way = ways_[way_];
  const bool used = way_ == Best();
  if (way.samples >= kSamples && used && since_trial_ >= kSurprisesEvery &&
      std::abs(rate - way.rate) > kSurprise * way.rate) {
    for (Way& other : ways_) other.samples = std::min(other.samples, kSamples - 1);
    since_trial_ = 0;
  }
  // A way that is seldom tried learns from each trial.
  way.rate = way.samples == 0 ? rate : way.rate + (rate - way.rate) / (used ? 4 : 2);
  ++way.samples;
  Begin(NextWay());
}

int BatchSteering::Best() const {
  if (!come_again_) return 0;
  int best = 0;
  for (int i = 1; i < kWays; ++i) {
    if (ways_[i].rate * kWorth[i] > ways_[best].rate * kWorth[best]) best = i;
  }
  return best;
}

int BatchSteering::NextWay() {
  if (!come_again_) return 0;
  for (const int i : {0, 2, 1}) {
    const bool fewest = std::ranges::all_of(
        ways_, [&](const Way& other) { return ways_[i].samples <= other.samples; });
    if (fewest && ways_[i].samples < kSamples) return i;
  }
  const int best = Best();
  if (++since_trial_ < kTrialEvery) return best;
  since_trial_ = 0;
  next_trial_ = (next_trial_ + 1) % kWays;
  if (next_trial_ == best) next_trial_ = (next_trial_ + 1) % kWays;
  return next_trial_;
}

}  // namespace sextant::serving
