// How a batcher waits under a latency target, on a clock of the test's own.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "sextant/base/temporary_directory.h"
#include "sextant/serving/batcher.h"
#include "sextant/serving/small_model_test_helpers.h"

namespace sextant::serving {
namespace {

// Time that passes when the test says so.
class TestClock final : public BatchClock {
 public:
  Clock::time_point Now() const override { return Clock::time_point(now_.load()); }
  void WaitUntil(std::condition_variable& wake, std::unique_lock<std::mutex>& lock,
                 Clock::time_point until) override {
    {
      const std::lock_guard own(mutex_);
      until_ = until;
      wake_ = &wake;
      batcher_ = lock.mutex();
    }
    if (Now() < until) wake.wait(lock);
  }
  // Until a thread waits; the time that it waits for.
  Clock::time_point AwaitWait() const {
    for (;; std::this_thread::yield()) {
      const std::lock_guard own(mutex_);
      if (until_ > Now()) return until_;
    }
  }
  void Set(Clock::time_point now) {
    now_ = now.time_since_epoch();
    const std::lock_guard own(mutex_);
    if (wake_ == nullptr) return;
    { const std::lock_guard waits(*batcher_); }  // a thread that has looked at the time waits
    wake_->notify_all();
  }

 private:
  std::atomic<Clock::duration> now_{std::chrono::hours(1)};
  mutable std::mutex mutex_;
  Clock::time_point until_;
  std::condition_variable* wake_ = nullptr;
  std::mutex* batcher_ = nullptr;
};

class SteeredBatcherTest : public testing::Test {
 protected:
  // Runs look as if they took a second, so that requests are queued.
  SteeredBatcherTest()
      : servable_(Servable::Load("m", 1, ExportSmallModel(directory_.path(), 1), {})),
        signature_(servable_->FindSignature("")) {
    for (int64_t rows = 1; rows <= 64; rows *= 2) {
      for (int i = 0; i < 100; ++i) {
        signature_.RecordRun(rows, std::chrono::seconds(1), i % 2 == 0);
      }
    }
  }
  InferenceRequest Request() const {
    return {.servable = servable_,
            .signature = &signature_,
            .inputs = {Tensor::FromVector<float>({1})}};
  }
  // As if so many clients had asked again and again, each when it was answered, in batches whose
  // runs take a second whatever their rows: waiting for all has proved to be best.
  void LearnToWaitFor(int64_t clients) const {
    BatchSteering& steering = signature_.steering();
    auto now = clock_->Now() - std::chrono::hours(1);
    for (int64_t i = 0; i < clients; ++i) steering.Arrived(now, 1);
    for (int i = 0; i < 1000; ++i) {
      const int64_t rows = std::min(clients, std::max<int64_t>(1, steering.WantedRows()));
      steering.Ended(now += std::chrono::seconds(1), rows);
      for (int64_t k = 0; k < rows; ++k) steering.Arrived(now, 1);
    }
    while (steering.WantedRows() < clients) {  // in the midst of a trial
      steering.Ended(now += std::chrono::seconds(1), 1);
      steering.Arrived(now, 1);
    }
    steering.Ended(now, clients);
  }
  std::unique_ptr<Batcher> Steered(std::vector<int64_t>* batches) const {
    auto batcher = std::make_unique<Batcher>(
        BatchingConfig{.enabled = true, .max_batch_size = 8, .threads = 1},
        [batches](const BatchReport& report) { batches->push_back(report.rows); }, clock_);
    batcher->SetLatencyTarget("m", std::chrono::minutes(1));
    return batcher;
  }

  const TemporaryDirectory directory_;
  const std::shared_ptr<const Servable> servable_;
  const ServableSignature& signature_;
  const std::shared_ptr<TestClock> clock_ = std::make_shared<TestClock>();
};

TEST_F(SteeredBatcherTest, WaitsForAsManyRowsAsRaiseTheRate) {
  LearnToWaitFor(3);
  std::vector<int64_t> batches;
  {
    const auto batcher = Steered(&batches);
    std::promise<void> answered;
    std::atomic<int> answers{0};
    for (int i = 0; i < 3; ++i) {
      batcher->Submit(Request(), [&](const Status&, std::vector<Tensor>) {
        if (++answers == 3) answered.set_value();
      });
    }
    answered.get_future().wait();  // and the clock has stood still
  }
  EXPECT_EQ(batches, std::vector<int64_t>{3});
}

TEST_F(SteeredBatcherTest, WaitsWithinHalfOfTheTargetAndOnceInVain) {
  LearnToWaitFor(3);
  std::vector<int64_t> batches;
  {
    const auto batcher = Steered(&batches);
    const auto begun = clock_->Now();
    const auto submit = [&] {
      auto answered = std::make_shared<std::promise<void>>();
      batcher->Submit(Request(),
                      [answered](const Status&, std::vector<Tensor>) { answered->set_value(); });
      return answered->get_future();
    };
    std::future<void> first = submit();
    const auto until = clock_->AwaitWait();
    // Runs of 3 rows take a second.
    EXPECT_EQ(until - begun, std::chrono::seconds(29));
    clock_->Set(until - std::chrono::milliseconds(1));
    EXPECT_EQ(batcher->num_waiting(), 1);
    clock_->Set(until);
    first.wait();
    submit().wait();  // alone again: the others do not come any more
  }
  EXPECT_EQ(batches, (std::vector<int64_t>{1, 1}));
}

TEST_F(SteeredBatcherTest, DoesNotWaitBeforeThatHasProvedGood) {
  std::vector<int64_t> batches;
  Steered(&batches)->Run(Request());
  EXPECT_EQ(batches, std::vector<int64_t>{1});
}

}  // namespace
}  // namespace sextant::serving
