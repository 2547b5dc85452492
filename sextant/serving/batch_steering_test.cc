#include "sextant/serving/batch_steering.h"

#include <gtest/gtest.h>

#include <functional>
#include <queue>
#include <random>
#include <vector>

namespace sextant::serving {
namespace {

using std::chrono::microseconds;
using Time = BatchSteering::Time;

// One thread that runs batches of at most 32 rows, in simulated time.
class Simulation {
 public:
  using RunTime = std::function<double(int64_t rows)>;  // in microseconds

  Simulation(RunTime run_time, int64_t longest_wait)
      : run_time_(std::move(run_time)), longest_wait_(longest_wait) {}

  // Clients that ask again 50 to 100 us after their answer. The rows ended in a second, of the last
  // half of the time.
  double ClosedLoop(int clients, double seconds) {
    std::priority_queue<double, std::vector<double>, std::greater<>> arrivals;
    for (int i = 0; i < clients; ++i) arrivals.push(now_ + Uniform());
    return Run(arrivals, seconds, /*again=*/true);
  }
  // Requests at the times of a Poisson process.
  double OpenLoop(double rate, double seconds) {
    std::priority_queue<double, std::vector<double>, std::greater<>> arrivals;
    std::exponential_distribution<double> gap(rate / 1e6);
    for (double at = now_; at < now_ + seconds * 1e6; at += gap(random_)) arrivals.push(at);
    return Run(arrivals, seconds, /*again=*/false);
  }
  double mean_wanted() const { return mean_wanted_; }

 private:
  static Time At(double us) { return Time(microseconds(static_cast<int64_t>(us))); }
  double Uniform() { return std::uniform_real_distribution<double>(50, 100)(random_); }

  double Run(std::priority_queue<double, std::vector<double>, std::greater<>>& arrivals,
             double seconds, bool again) {
    const double begin = now_, end = now_ + seconds * 1e6;
    int64_t waiting = 0, ended = 0, batches = 0;
    double first = 0, wanted = 0;
    const auto take = [&] {
      now_ = std::max(now_, arrivals.top());
      steering_.Arrived(At(arrivals.top()), 1);
      if (waiting++ == 0) first = arrivals.top();
      arrivals.pop();
    };
    while (now_ < end && (waiting > 0 || !arrivals.empty())) {
      if (waiting == 0) take();
      while (!arrivals.empty() && arrivals.top() <= now_) take();
      while (waiting < std::min<int64_t>(32, steering_.WantedRows())) {
        const double last = first + static_cast<double>(longest_wait_);
        if (arrivals.empty() || arrivals.top() > last) {
          now_ = std::max(now_, last);
          steering_.WaitedInVain();
          break;
        }
        take();
      }
      const int64_t rows = std::min<int64_t>(32, waiting);
      const double done = now_ + run_time_(rows);
      while (!arrivals.empty() && arrivals.top() <= done) take();
      waiting -= rows;
      if (waiting > 0) first = done;  // about
      now_ = done;
      steering_.Ended(At(done), rows);
      for (int64_t i = 0; again && i < rows; ++i) arrivals.push(now_ + Uniform());
      if (now_ < (begin + end) / 2) continue;
      ended += rows;
      ++batches;
      wanted += static_cast<double>(steering_.WantedRows());
    }
    now_ = std::max(now_, end);
    // Nobody is left behind for the next part of a test.
    steering_.Ended(At(now_), waiting);
    mean_wanted_ = wanted / static_cast<double>(batches);
    return static_cast<double>(ended) / (seconds / 2);
  }

  const RunTime run_time_;
  const int64_t longest_wait_;  // in microseconds
  BatchSteering steering_;
  std::mt19937_64 random_{7};
  double now_ = 1e6, mean_wanted_ = 0;
};

double Joins(int64_t rows) { return 1000 + 50.0 * static_cast<double>(rows); }

// All 16 together take 1.8 ms, and come back within 0.1 ms. Two groups of 8 take 2.8 ms.
TEST(BatchSteeringTest, WaitsForAllClientsWhereThatRaisesTheRate) {
  Simulation simulation(Joins, 8000);
  EXPECT_GT(simulation.ClosedLoop(16, 2), 0.95 * 16e6 / 1900);
  EXPECT_GT(simulation.mean_wanted(), 14);
}

TEST(BatchSteeringTest, LearnsWithinAFewHundredAnswers) {
  Simulation simulation(Joins, 8000);
  simulation.ClosedLoop(16, 0.25);
  EXPECT_GT(simulation.ClosedLoop(16, 0.25), 0.95 * 16e6 / 1900);
}

// Where time grows with the rows, waiting would only leave the thread idle.
TEST(BatchSteeringTest, DoesNotWaitWhereNothingIsGained) {
  Simulation simulation([](int64_t rows) { return 120.0 * static_cast<double>(rows); }, 8000);
  EXPECT_GT(simulation.ClosedLoop(16, 4), 0.98 * 1e6 / 120);
  EXPECT_LT(simulation.mean_wanted(), 3);
}

TEST(BatchSteeringTest, FollowsClientsThatComeAndGo) {
  Simulation simulation(Joins, 8000);
  simulation.ClosedLoop(16, 1);
  simulation.ClosedLoop(6, 1);
  EXPECT_GT(simulation.mean_wanted(), 5);
  EXPECT_LE(simulation.mean_wanted(), 6);
  EXPECT_GT(simulation.ClosedLoop(24, 2), 0.95 * 24e6 / 2300);
}

// At half of the capacity the rate is that of the arrivals, however long a batch waits.
TEST(BatchSteeringTest, DoesNotHoldUpRequestsThatComeAtTheirOwnRate) {
  Simulation simulation(Joins, 8000);
  simulation.ClosedLoop(16, 1);
  simulation.OpenLoop(4000, 4);
  EXPECT_LT(simulation.mean_wanted(), 4);
}

}  // namespace
}  // namespace sextant::serving
