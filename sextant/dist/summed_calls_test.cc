#include "sextant/dist/summed_calls.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>

#include "sextant/base/error.h"
#include "sextant/testing/status_of.h"

namespace sextant::dist {
namespace {

// Lets parts run when the test says so.
class HandCommit : public StepCommit {
 public:
  void Ready(const UpdatePart&, uint64_t, int64_t step, CancellationToken& cancellation) override {
    const auto wake = cancellation.OnCancel([this] {
      const std::lock_guard cancelled(mutex_);
      changed_.notify_all();
    });
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return step < allowed_ || cancellation.cancelled(); });
    }
    cancellation.ThrowIfCancelled();
  }
  void Ran(const UpdatePart&, uint64_t, int64_t step, CancellationToken&) override {
    const std::lock_guard lock(mutex_);
    ran_ = step + 1;
    changed_.notify_all();
  }
  void Failed(uint64_t, int64_t, const Status& why) noexcept override {
    const std::lock_guard lock(mutex_);
    failure_ = why;
    changed_.notify_all();
  }

  void Allow(int64_t below) {
    const std::lock_guard lock(mutex_);
    allowed_ = below;
    changed_.notify_all();
  }
  void AwaitRan(int64_t steps) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ran_ >= steps; });
  }
  Status AwaitFailure() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !failure_.ok(); });
    return failure_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t allowed_ = 0, ran_ = 0;
  Status failure_;
};

class SummedCallsTest : public testing::Test {
 protected:
  SummedCallsTest() {
    fragment_.sum = Fragment::Sum{.replicas = 2, .gradient = {true}, .key = 7};
    fragment_.fingerprint = 70;
    calls_.emplace(
        [this](uint64_t epoch, uint64_t fingerprint, const auto& contributions,
               CancellationToken&) {
          if (fail_) throw InvalidArgument("shapes differ");
          const std::lock_guard lock(mutex_);
          std::string line = fmt::format("{} {}:", epoch, fingerprint);
          for (const auto& inputs : contributions)
            line += fmt::format(" {}", inputs[0].template scalar<float>());
          ran_.push_back(line);
        },
        commit_);
  }
  bool Give(int64_t step, int number, float value, uint64_t epoch = 1) {
    return calls_->Contribute(fragment_, epoch, {step, number}, {Tensor(value)});
  }

  Fragment fragment_;
  HandCommit commit_;
  std::mutex mutex_;
  std::vector<std::string> ran_;
  bool fail_ = false;
  std::optional<SummedCalls> calls_;
};

TEST_F(SummedCallsTest, ContributionsRunOnceInTheOrderOfTokens) {
  EXPECT_FALSE(Give(5, 1, 11));
  EXPECT_FALSE(Give(5, 1, 11));  // sent again
  EXPECT_FALSE(Give(5, 0, 10));  // answered before the step is committed
  EXPECT_TRUE(Give(5, 2, 12));
  EXPECT_TRUE(ran_.empty());
  commit_.Allow(6);
  commit_.AwaitRan(6);
  EXPECT_EQ(ran_, std::vector<std::string>{"1 70: 10 11"});
  EXPECT_TRUE(Give(5, 2, 12));
  EXPECT_EQ(calls_->num_stale(), 2);
  EXPECT_FALSE(Give(6, 2, 22));
}

TEST_F(SummedCallsTest, ANewEpochBeginsAnew) {
  Give(5, 0, 1);
  EXPECT_FALSE(Give(3, 0, 2, /*epoch=*/2));
  EXPECT_EQ(StatusOf([&] { Give(5, 1, 3); }).code(), Code::kAborted);
  Give(3, 1, 4, 2);
  commit_.Allow(4);
  commit_.AwaitRan(4);
  EXPECT_EQ(ran_, std::vector<std::string>{"2 70: 2 4"});
}

TEST_F(SummedCallsTest, AllMustMeanTheSameUpdate) {
  Give(5, 0, 1);
  fragment_.sum->key = 8;
  const Status status = StatusOf([&] { Give(5, 1, 1); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("same graph"), std::string::npos) << status.message();
  fragment_.sum->key = 7;
  Give(5, 1, 1);
  fragment_.sum->key = 8;  // another training operation in the next step
  EXPECT_FALSE(Give(6, 0, 1));
}

TEST_F(SummedCallsTest, FailuresAreTold) {
  fail_ = true;
  commit_.Allow(9);
  Give(5, 0, 1);
  Give(5, 1, 1);
  EXPECT_EQ(commit_.AwaitFailure().code(), Code::kInvalidArgument);
}

TEST_F(SummedCallsTest, NobodyWaitsForACommitThatNeverComes) {
  Give(5, 0, 1);
  Give(5, 1, 1);
  calls_.reset();
  EXPECT_TRUE(ran_.empty());
}

}  // namespace
}  // namespace sextant::dist
