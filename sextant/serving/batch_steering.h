// BatchSteering: how many rows a batch should wait for, learnt from the rate at which rows end.
// Clients that ask again when they are answered come when they are let: the times between their
// requests depend on how batches are made, so they do not tell what waiting would gain. The rate
// does.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sextant::serving {

// Of one signature. Not thread-safe.
class BatchSteering {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Rows to wait for; 1: none but the first.
  int64_t WantedRows() const;

  void Arrived(Time now, int64_t rows);
  void Ended(Time now, int64_t rows);
  // The batch timeout has passed before the expected number of requests arrived.
  void WaitedInVain() { crowd_ = std::max<int64_t>(1, outstanding_); }

 private:
  static constexpr int kWays = 3;
  struct Way {
    double rate = 0;  // rows a nanosecond
    int samples = 0;
  };
  void Pass(Time now);
  void Begin(int way);
  void Forget();
  void EndEpoch(std::chrono::nanoseconds time);
  int Best() const;
  int NextWay();

  Way ways_[kWays];
  int way_ = 0, next_trial_ = 0;
  int64_t crowd_ = 1;                 // the most rows at a time, lately
  int64_t outstanding_ = 0;           // rows that wait or run
  int64_t most_ = 0;                  // of them, in this epoch
  int64_t settling_ = 0, ended_ = 0;  // rows: to be left out; measured
  int64_t since_trial_ = 0;           // epochs
  double presence_ = 0;               // the sum of outstanding rows over this epoch's time, in ns
  bool come_again_ = true;            // clients ask again when they are answered
  Time begun_, last_;
};

}  // namespace sextant::serving
