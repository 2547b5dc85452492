#include "sextant/dist/call_history.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "sextant/testing/status_of.h"

namespace sextant::dist {
namespace {

using History = CallHistory<std::string>;

// A message of a call, or of none, while these others are under way.
SenderProgress Says(uint64_t sender, uint64_t done_below, std::vector<uint64_t> under_way) {
  return {sender, done_below, std::move(under_way)};
}
// A message of a call when all before it have ended.
SenderProgress Only(uint64_t sender, uint64_t sequence) {
  return Says(sender, sequence + 1, {sequence});
}
// A message of a call when all before it are under way.
SenderProgress All(uint64_t sender, uint64_t sequence) {
  std::vector<uint64_t> under_way;
  for (uint64_t i = 0; i <= sequence; ++i) under_way.push_back(i);
  return Says(sender, sequence + 1, std::move(under_way));
}

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
  const auto running = history.Begin(Only(1, 5), 5, 0, answers.Take());
  ASSERT_TRUE(running);
  EXPECT_FALSE(history.Begin(Only(1, 5), 5, 0, answers.Take()));  // while it runs
  EXPECT_TRUE(answers.got.empty());
  EXPECT_EQ(history.running(), 1u);
  const auto running_for = history.RunningFor();
  EXPECT_LE(running_for.at(0), std::chrono::steady_clock::now() - running->begun);
  history.End(*running, Status(), "42");
  EXPECT_EQ(answers.got, (std::vector<std::string>{"42", "42"}));
  EXPECT_FALSE(history.Begin(Only(1, 5), 5, 0, answers.Take()));  // after it
  EXPECT_EQ(answers.got.size(), 3u);
  EXPECT_EQ(history.duplicates(), 2u);
}

TEST(CallHistoryTest, ErrorsAreAnswersToo) {
  History history;
  Answers answers;
  history.End(*history.Begin(Only(1, 1), 1, 0, answers.Take()), Status(Code::kInternal, "no"), "");
  EXPECT_FALSE(history.Begin(Only(1, 1), 1, 0, answers.Take()));
  EXPECT_EQ(answers.got, (std::vector<std::string>{"no", "no"}));
}

TEST(CallHistoryTest, CancellingMayOvertakeTheCall) {
  History history;
  Answers answers;
  history.Cancel(Only(1, 5), 5, Status(Code::kCancelled, "given up"));
  EXPECT_FALSE(history.Begin(Only(1, 5), 5, 0, answers.Take()));
  EXPECT_EQ(answers.got, (std::vector<std::string>{"given up"}));
  EXPECT_TRUE(history.Begin(Only(1, 6), 6, 0, answers.Take()));
}

// The caller cancels, ends the call and makes the next one, which travels on another connection.
TEST(CallHistoryTest, CancellingMayComeAfterTheNextCall) {
  for (const bool comes : {true, false}) {
    History history;
    Answers answers;
    const auto running = history.Begin(Only(1, 5), 5, 0, answers.Take());
    ASSERT_TRUE(history.Begin(Only(1, 6), 6, 0, answers.Take()));
    if (comes) history.Cancel(Only(1, 5), 5, Status(Code::kCancelled, "given up"));
    EXPECT_TRUE(running->cancellation.cancelled());
    history.End(*running, running->cancellation.status(), "");
    EXPECT_EQ(answers.got, std::vector<std::string>{"the caller has given it up"});
    EXPECT_EQ(history.running(), 1u);
  }
}

TEST(CallHistoryTest, WhatIsUnderWayIsNotCancelled) {
  History history;
  Answers answers;
  const auto first = history.Begin(Only(1, 1), 1, 0, answers.Take());
  const auto second = history.Begin(All(1, 2), 2, 0, answers.Take());
  history.Touch(Only(1, 1));  // sent before the second call, and late
  history.Touch(Says(1, 3, {1}));
  EXPECT_FALSE(first->cancellation.cancelled());
  EXPECT_TRUE(second->cancellation.cancelled());
}

TEST(CallHistoryTest, SendersDoNotMeet) {
  History history;
  Answers answers;
  EXPECT_TRUE(history.Begin(Only(1, 1), 1, 0, answers.Take()));
  EXPECT_TRUE(history.Begin(Only(2, 1), 1, 0, answers.Take()));
}

TEST(CallHistoryTest, AnsweredCallsAreForgottenAndNeverRunAgain) {
  History history;
  Answers answers;
  history.End(*history.Begin(Only(1, 5), 5, 0, answers.Take()), Status(), "a");
  ASSERT_TRUE(history.Begin(Only(1, 6), 6, 0, answers.Take()));
  EXPECT_EQ(StatusOf([&] { history.Begin(Only(1, 5), 5, 0, answers.Take()); }).code(),
            Code::kAborted);
}

TEST(CallHistoryTest, AnswersThatTheSenderHasAreNotKept) {
  CallHistory<std::shared_ptr<int>> history;
  int answers = 0;
  const auto count = [&](const Status&, const std::shared_ptr<int>& reply) { answers += *reply; };
  const auto end = [&](auto& running) {
    const auto reply = std::make_shared<int>(1);
    history.End(running, Status(), reply);
    return std::weak_ptr<int>(reply);
  };
  const auto waits = history.Begin(Only(1, 1), 1, 0, count);
  // One call that waits holds no answers of others.
  const auto second = end(*history.Begin(All(1, 2), 2, 0, count));
  history.Touch(Says(1, 3, {1, 2}));
  EXPECT_FALSE(second.expired());
  for (int times = 0; times < 2; ++times) history.Touch(Says(1, 3, {1}));
  EXPECT_TRUE(second.expired());
  history.Touch(Says(1, 3, {}));  // nobody waits for what runs
  EXPECT_FALSE(history.Begin(Only(1, 1), 1, 0, count));
  EXPECT_TRUE(end(*waits).expired());
  EXPECT_EQ(answers, 3);  // who asked before is answered
  EXPECT_EQ(history.running(), 0u);
  for (const uint64_t sequence : {1, 2}) {
    EXPECT_EQ(StatusOf([&] { history.Begin(Only(1, sequence), sequence, 0, count); }).code(),
              Code::kAborted);
  }
  history.Touch(Says(9, 5, {}));  // of whom nothing is known
  EXPECT_TRUE(history.Begin(Only(9, 1), 1, 0, count));
}

TEST(CallHistoryTest, RemembersSoManyButNeverDropsWhatRuns) {
  History history(4);
  Answers answers;
  const auto first = history.Begin(All(1, 1), 1, 0, answers.Take());
  for (uint64_t i = 2; i < 20; ++i)
    history.End(*history.Begin(All(1, i), i, 0, answers.Take()), Status(), "x");
  EXPECT_FALSE(history.Begin(All(1, 19), 1, 0, answers.Take()));
  EXPECT_EQ(StatusOf([&] { history.Begin(All(1, 19), 2, 0, answers.Take()); }).code(),
            Code::kAborted);
  history.End(*first, Status(), "first");
  EXPECT_EQ(answers.got.back(), "first");
}

// A call whose tensors go ahead in parts is sent long after it was given its number.
TEST(CallHistoryTest, CallsMayComeLongAfterThoseThatFollowThem) {
  History history(4);
  Answers answers;
  constexpr uint64_t kLate = 10, kLast = 1000;
  const auto beside = [](uint64_t i) {
    return i < kLate ? Only(1, i) : Says(1, i + 1, {kLate, i});
  };
  for (uint64_t i = 1; i < kLast; ++i) {
    if (i == kLate) continue;
    history.End(*history.Begin(beside(i), i, 0, answers.Take()), Status(), "x");
  }
  for (uint64_t i = 1; i < kLast - 1; ++i) {
    if (i == kLate) continue;
    EXPECT_EQ(StatusOf([&] { history.Begin(beside(i), i, 0, answers.Take()); }).code(),
              Code::kAborted)
        << i;
  }
  const auto late = history.Begin(Says(1, kLast, {kLate}), kLate, 0, answers.Take());
  ASSERT_TRUE(late);
  history.End(*late, Status(), "late");
  EXPECT_EQ(answers.got.back(), "late");
  EXPECT_FALSE(history.Begin(Says(1, kLast, {kLate}), kLate, 0, answers.Take()));  // it is kept
  EXPECT_EQ(answers.got.back(), "late");
}

TEST(CallHistoryTest, CallsThatRunDriveOutNoAnswers) {
  History history(4);
  Answers answers;
  std::vector<std::shared_ptr<History::Running>> running;
  for (uint64_t i = 1; i <= 100; ++i)
    running.push_back(history.Begin(All(1, i), i, 0, answers.Take()));
  history.End(*running[49], Status(), "fifty");
  ASSERT_TRUE(history.Begin(All(1, 101), 101, 0, answers.Take()));
  EXPECT_FALSE(history.Begin(All(1, 101), 50, 0, answers.Take()));  // again: the answer was lost
  EXPECT_EQ(answers.got, (std::vector<std::string>{"fifty", "fifty"}));
}

TEST(CallHistoryTest, CancelsCallsOfSilentSendersThenForgetsThem) {
  History history;
  Answers answers;
  const auto running = history.Begin(Only(1, 1), 1, 7, answers.Take());
  const auto look = [&] { return history.ForgetSilent(2, Status(Code::kCancelled, "gone")); };
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(look().empty());
  history.Touch(Only(1, 1));
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
            history.Begin(All(1, 499), i, 0, [&answered, i](const Status&, const auto& reply) {
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
