#include "sextant/dist/call_history.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "sextant/testing/status_of.h"

namespace sextant::dist {
namespace {

using History = CallHistory<std::string>;

struct Answers {
  std::vector<std::string> got;
  History::Done Take() {
    return [this](const Status& status, const std::string& reply) {
      got.push_back(status.ok() ? reply : status.message());
    };
  }
};

TEST(CallHistoryTest, CallIsRunOnceAndAnsweredAsOftenAsItIsSent) {
  History history;
  Answers answers;
  const auto running = history.Begin(1, 5, 0, 0, answers.Take());
  ASSERT_TRUE(running);
  EXPECT_FALSE(history.Begin(1, 5, 0, 0, answers.Take()));  // while it runs
  EXPECT_TRUE(answers.got.empty());
  EXPECT_EQ(history.running(), 1u);
  history.End(*running, Status(), "42");
  EXPECT_EQ(answers.got, (std::vector<std::string>{"42", "42"}));
  EXPECT_FALSE(history.Begin(1, 5, 0, 0, answers.Take()));  // after it
  EXPECT_EQ(answers.got.size(), 3u);
  EXPECT_EQ(history.duplicates(), 2u);
}

TEST(CallHistoryTest, ErrorsAreAnswersToo) {
  History history;
  Answers answers;
  history.End(*history.Begin(1, 1, 0, 0, answers.Take()), Status(Code::kInternal, "no"), "");
  EXPECT_FALSE(history.Begin(1, 1, 0, 0, answers.Take()));
  EXPECT_EQ(answers.got, (std::vector<std::string>{"no", "no"}));
}

TEST(CallHistoryTest, CancellingMayOvertakeTheCall) {
  History history;
  Answers answers;
  history.Cancel(1, 5, Status(Code::kCancelled, "given up"));
  EXPECT_FALSE(history.Begin(1, 5, 0, 0, answers.Take()));
  EXPECT_EQ(answers.got, (std::vector<std::string>{"given up"}));
  EXPECT_TRUE(history.Begin(1, 6, 0, 0, answers.Take()));
}

TEST(CallHistoryTest, SendersDoNotMeet) {
  History history;
  Answers answers;
  EXPECT_TRUE(history.Begin(1, 1, 0, 0, answers.Take()));
  EXPECT_TRUE(history.Begin(2, 1, 0, 0, answers.Take()));
}

TEST(CallHistoryTest, AnsweredCallsAreForgottenAndNeverRunAgain) {
  History history;
  Answers answers;
  history.End(*history.Begin(1, 5, 0, 0, answers.Take()), Status(), "a");
  ASSERT_TRUE(history.Begin(1, 6, /*done_below=*/6, 0, answers.Take()));
  EXPECT_EQ(StatusOf([&] { history.Begin(1, 5, 0, 0, answers.Take()); }).code(), Code::kAborted);
}

TEST(CallHistoryTest, AnswersThatTheSenderHasAreNotKept) {
  CallHistory<std::shared_ptr<int>> history;
  int answers = 0;
  const auto count = [&](const Status&, const std::shared_ptr<int>& reply) { answers += *reply; };
  std::weak_ptr<int> first, second;
  const auto end = [&](auto& running, std::weak_ptr<int>& seen) {
    const auto reply = std::make_shared<int>(1);
    seen = reply;
    return history.End(running, Status(), reply);
  };
  EXPECT_TRUE(end(*history.Begin(1, 1, 0, 0, count), first));
  const auto running = history.Begin(1, 2, 0, 0, count);
  history.Touch(1);
  EXPECT_FALSE(first.expired());
  for (int times = 0; times < 2; ++times) history.Touch(1, 2);
  EXPECT_TRUE(first.expired());
  history.Touch(1, 3);  // nobody waits for what runs
  EXPECT_FALSE(history.Begin(1, 2, 0, 0, count));
  EXPECT_FALSE(end(*running, second));
  EXPECT_EQ(answers, 3);  // who asked before is answered
  EXPECT_TRUE(second.expired());
  EXPECT_EQ(history.running(), 0u);
  for (const uint64_t sequence : {1, 2}) {
    EXPECT_EQ(StatusOf([&] { history.Begin(1, sequence, 0, 0, count); }).code(), Code::kAborted);
  }
  history.Touch(9, 5);  // of whom nothing is known
  EXPECT_TRUE(history.Begin(9, 1, 0, 0, count));
}

TEST(CallHistoryTest, RemembersSoManyButNeverDropsWhatRuns) {
  History history(4);
  Answers answers;
  const auto first = history.Begin(1, 1, 0, 0, answers.Take());
  for (uint64_t i = 2; i < 20; ++i)
    history.End(*history.Begin(1, i, 0, 0, answers.Take()), Status(), "x");
  EXPECT_FALSE(history.Begin(1, 1, 0, 0, answers.Take()));
  EXPECT_EQ(StatusOf([&] { history.Begin(1, 2, 0, 0, answers.Take()); }).code(), Code::kAborted);
  history.End(*first, Status(), "first");
  EXPECT_EQ(answers.got.back(), "first");
}

// A call whose tensors go ahead in parts is sent long after it was given its number.
TEST(CallHistoryTest, CallsMayComeLongAfterThoseThatFollowThem) {
  History history(4);
  Answers answers;
  constexpr uint64_t kLate = 10, kLast = 1000;
  for (uint64_t i = 1; i < kLast; ++i) {
    if (i == kLate) continue;
    history.End(*history.Begin(1, i, std::min(i, kLate), 0, answers.Take()), Status(), "x");
  }
  for (uint64_t i = 1; i < kLast - 4; ++i) {
    if (i == kLate) continue;
    EXPECT_EQ(StatusOf([&] { history.Begin(1, i, kLate, 0, answers.Take()); }).code(),
              Code::kAborted)
        << i;
  }
  const auto late = history.Begin(1, kLate, kLate, 0, answers.Take());
  ASSERT_TRUE(late);
  history.End(*late, Status(), "late");
  EXPECT_EQ(answers.got.back(), "late");
  EXPECT_FALSE(history.Begin(1, kLate, kLate, 0, answers.Take()));  // its answer is kept
  EXPECT_EQ(answers.got.back(), "late");
}

TEST(CallHistoryTest, CallsThatRunDriveOutNoAnswers) {
  History history(4);
  Answers answers;
  std::vector<std::shared_ptr<History::Running>> running;
  for (uint64_t i = 1; i <= 100; ++i) running.push_back(history.Begin(1, i, 0, 0, answers.Take()));
  history.End(*running[49], Status(), "fifty");
  ASSERT_TRUE(history.Begin(1, 101, 0, 0, answers.Take()));
  EXPECT_FALSE(history.Begin(1, 50, 0, 0, answers.Take()));  // sent again: the answer was lost
  EXPECT_EQ(answers.got, (std::vector<std::string>{"fifty", "fifty"}));
}

TEST(CallHistoryTest, CancelsCallsOfSilentSendersThenForgetsThem) {
  History history;
  Answers answers;
  const auto running = history.Begin(1, 1, 0, 7, answers.Take());
  const auto look = [&] { return history.ForgetSilent(2, Status(Code::kCancelled, "gone")); };
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(look().empty());
  history.Touch(1);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(look().empty());
  EXPECT_FALSE(running->cancellation.cancelled());
  EXPECT_TRUE(look().empty());
  EXPECT_TRUE(running->cancellation.cancelled());
  history.End(*running, running->cancellation.status(), "");
  EXPECT_EQ(look(), std::vector<uint64_t>{1});
  history.End(*running, Status(), "");  // harmless
}

TEST(CallHistoryTest, ManyThreadsSendingTheSameCallsRunEachOnce) {
  History history(1000);
  std::atomic<int> runs = 0, answered = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < 500; ++i) {
        const auto running =
            history.Begin(1, i, 0, 0, [&answered, i](const Status&, const std::string& reply) {
              answered += reply == std::to_string(i) ? 1 : 0;
            });
        if (!running) continue;
        ++runs;
        history.End(*running, Status(), std::to_string(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs, 500);
  EXPECT_EQ(answered, 2000);
}

}  // namespace
}  // namespace sextant::dist
