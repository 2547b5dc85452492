#include "sextant/serving/batcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "sextant/base/temporary_directory.h"
#include "sextant/serving/small_model_test_helpers.h"
#include "sextant/testing/status_of.h"

namespace sextant::serving {
namespace {

class BatcherTest : public testing::Test {
 protected:
  BatcherTest()
      : servable_(Servable::Load("m", 1, ExportSmallModel(directory_.path(), 1), {})),
        signature_(servable_->FindSignature("")) {}

  InferenceRequest Request(std::vector<float> values) const {
    return {
        .servable = servable_, .signature = &signature_, .inputs = {Tensor::FromVector(values)}};
  }
  // Makes runs look long, so that requests are queued.
  void LookSlow() const {
    for (int64_t rows = 1; rows <= 64; rows *= 2) {
      for (int i = 0; i < 100; ++i) {
        signature_.RecordRun(rows, std::chrono::seconds(1), i % 2 == 0);
      }
    }
  }
  // y = x / 2 + 2
  static void ExpectAnswer(const std::vector<float>& x, const std::vector<Tensor>& outputs) {
    ASSERT_EQ(outputs.size(), 1u);
    ASSERT_EQ(outputs[0].shape(), Shape({static_cast<int64_t>(x.size())}));
    for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(outputs[0].data<float>()[i], x[i] / 2 + 2);
  }

  const TemporaryDirectory directory_;
  const std::shared_ptr<const Servable> servable_;
  const ServableSignature& signature_;
};

TEST_F(BatcherTest, RunsShortRequestsAtOnce) {
  Batcher batcher({});
  EXPECT_TRUE(signature_.batchable());
  ExpectAnswer({1, 2}, batcher.Run(Request({1, 2})));
  for (int i = 0; i < 50; ++i) signature_.RecordRun(2, std::chrono::microseconds(1));
  const auto here = std::this_thread::get_id();
  std::thread::id there;
  batcher.Submit(Request({1, 2}),
                 [&](const Status&, std::vector<Tensor>) { there = std::this_thread::get_id(); });
  EXPECT_EQ(there, here);
}

// With a timeout of ten seconds, the requests can only be answered in time as full batches.
TEST_F(BatcherTest, RunsShortRequestsBesideLongOnesThatWait) {
  LookSlow();
  std::promise<void> entered, leave;
  Batcher batcher({.threads = 1});
  batcher.Submit(Request({1}), [&](const Status&, std::vector<Tensor>) {
    entered.set_value();
    leave.get_future().wait();
  });
  entered.get_future().wait();  // the only thread is busy
  LookSlow();
  std::atomic<int> answers{0};
  const auto count = [&](const Status& status, std::vector<Tensor>) { answers += status.ok(); };
  batcher.Submit(Request({1}), count);
  EXPECT_EQ(batcher.num_waiting(), 1);
  for (int i = 0; i < 64; ++i) signature_.RecordRun(1, std::chrono::microseconds(1));
  batcher.Submit(Request({1}), count);
  EXPECT_EQ(answers, 1);  // the one that came last
  EXPECT_EQ(batcher.num_waiting(), 1);
  leave.set_value();
  while (answers < 2) std::this_thread::yield();
}

TEST_F(BatcherTest, JoinsRequestsToFullBatches) {
  std::mutex mutex;
  std::vector<BatchReport> reports;
  {
    Batcher batcher(
        {.enabled = true, .max_batch_size = 4, .timeout_micros = 10000000, .threads = 2},
        [&](const BatchReport& report) {
          const std::lock_guard lock(mutex);
          reports.push_back(report);
        });
    std::vector<std::thread> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back([&, i] {
        const std::vector<float> x = {static_cast<float>(i)};
        ExpectAnswer(x, batcher.Run(Request(x)));
      });
    }
    for (std::thread& client : clients) client.join();
  }
  ASSERT_EQ(reports.size(), 2u);
  for (const BatchReport& report : reports) EXPECT_EQ(report.rows, 4);
}

TEST_F(BatcherTest, PadsToAllowedSizes) {
  std::atomic<int64_t> padding{0};
  {
    Batcher batcher(
        {.enabled = true, .max_batch_size = 8, .timeout_micros = 1, .allowed_sizes = {4, 8}},
        [&](const BatchReport& report) { padding += report.padding; });
    ExpectAnswer({1, 2, 3}, batcher.Run(Request({1, 2, 3})));
    ExpectAnswer({1, 2, 3, 4, 5}, batcher.Run(Request({1, 2, 3, 4, 5})));
  }
  EXPECT_EQ(padding, 1 + 3);
}

// Three requests of a row wait, prepared are 1, 2, 4 and 8 rows: they run as 2 and 1 where time
// grows with the rows, and padded to 4 where it does not.
TEST_F(BatcherTest, JoinedRequestsRunAtPreparedSizes) {
  for (const bool grows : {true, false}) {
    const auto servable = Servable::Load("m", 2, ExportSmallModel(directory_.path(), grows ? 2 : 3),
                                         {.batch_sizes = {1, 2, 4, 8}, .concurrency = 2});
    const ServableSignature& signature = servable->FindSignature("");
    EXPECT_EQ(signature.prepared(), (std::vector<int64_t>{1, 2, 4, 8}));
    for (int64_t rows = 1; rows <= 8; rows *= 2) {
      for (int i = 0; i < 2000; ++i) {
        signature.RecordRun(rows, std::chrono::seconds(grows ? rows : 1), i % 2 == 0);
      }
    }
    std::promise<void> entered, leave;
    std::vector<std::pair<int64_t, int64_t>> runs;  // rows, padding
    {
      Batcher batcher(
          {.enabled = true, .max_batch_size = 8, .threads = 1},
          [&](const BatchReport& report) { runs.emplace_back(report.rows, report.padding); });
      InferenceRequest request{
          .servable = servable, .signature = &signature, .inputs = {Tensor::Of<float>({6})}};
      batcher.Submit(request, [&](const Status&, std::vector<Tensor>) {
        entered.set_value();
        leave.get_future().wait();
      });
      entered.get_future().wait();
      std::promise<void> answered;
      int answers = 0;
      for (int i = 0; i < 3; ++i) {
        batcher.Submit(request, [&](const Status&, std::vector<Tensor> outputs) {
          ExpectAnswer({6}, outputs);
          if (++answers == 3) answered.set_value();
        });
      }
      leave.set_value();
      answered.get_future().wait();
    }
    using Runs = std::vector<std::pair<int64_t, int64_t>>;
    EXPECT_EQ(runs, grows ? (Runs{{1, 0}, {2, 0}, {1, 0}}) : (Runs{{1, 0}, {3, 1}}));
  }
}

// A thread that reads requests joins those that it has, and runs them itself.
TEST_F(BatcherTest, JoinsShortRequestsThatAThreadHasRead) {
  const auto look_short = [&] {
    for (int64_t rows = 1; rows <= 8; rows *= 2) {
      for (int i = 0; i < 64; ++i) signature_.RecordRun(rows, std::chrono::microseconds(1));
    }
  };
  look_short();
  std::vector<int64_t> batches;
  Batcher batcher({.enabled = true, .max_batch_size = 2, .max_enqueued_batches = 2, .threads = 1},
                  [&](const BatchReport& report) { batches.push_back(report.rows); });
  std::vector<std::function<void()>> later;
  std::vector<Code> codes;
  for (int i = 0; i < 5; ++i) {
    InferenceRequest request = Request({1});
    request.again = [&](std::function<void()> run) { later.push_back(std::move(run)); };
    batcher.Submit(std::move(request), [&](const Status& status, std::vector<Tensor>) {
      codes.push_back(status.code());
    });
  }
  EXPECT_EQ(codes, std::vector<Code>{Code::kUnavailable});  // two batches of two may wait
  EXPECT_EQ(batcher.num_waiting(), 4);
  for (const auto& run : later) {
    look_short();  // whatever the run before took
    run();
  }
  EXPECT_EQ(codes.size(), 5u);
  EXPECT_EQ(batches, (std::vector<int64_t>{2, 2}));
}

TEST_F(BatcherTest, SplitsLargeRequests) {
  const BatchingConfig config{.enabled = true, .max_batch_size = 4};
  Batcher batcher(config);
  std::vector<float> x;
  for (int i = 0; i < 11; ++i) x.push_back(static_cast<float>(i));
  ExpectAnswer(x, batcher.Run(Request(x)));
  BatchingConfig whole = config;
  whole.split_large = false;
  Batcher strict(whole);
  EXPECT_EQ(StatusOf([&] { strict.Run(Request(x)); }).code(), Code::kInvalidArgument);
  BatchingConfig bounded = config;
  bounded.max_request_rows = 11;
  Batcher careful(bounded);
  ExpectAnswer(x, careful.Run(Request(x)));
  x.push_back(11);
  EXPECT_EQ(StatusOf([&] { careful.Run(Request(x)); }).code(), Code::kInvalidArgument);
}

TEST_F(BatcherTest, DropsWhatIsLateOrCancelled) {
  LookSlow();
  Batcher batcher({});
  InferenceRequest late = Request({1});
  late.deadline = Clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(StatusOf([&] { batcher.Run(std::move(late)); }).code(), Code::kDeadlineExceeded);
  InferenceRequest gone = Request({1});
  gone.cancelled = [] { return true; };
  EXPECT_EQ(StatusOf([&] { batcher.Run(std::move(gone)); }).code(), Code::kCancelled);
}

TEST_F(BatcherTest, RefusesMoreThanItsQueueHolds) {
  std::vector<std::future<Status>> answers;
  Status last;
  {
    Batcher batcher({.enabled = true,
                     .max_batch_size = 2,
                     .timeout_micros = 60000000,
                     .max_enqueued_batches = 1,
                     .threads = 1});
    // Rows of another size cannot be joined, so they wait behind.
    const auto submit = [&](const std::vector<float>& x) {
      auto promise = std::make_shared<std::promise<Status>>();
      answers.push_back(promise->get_future());
      batcher.Submit(Request(x), [promise](const Status& status, std::vector<Tensor>) {
        promise->set_value(status);
      });
    };
    batcher.CheckRoom(signature_);
    submit({1});
    batcher.CheckRoom(signature_);
    submit({1, 2});  // 1 + 2 rows are more than one batch of two
    last = answers[1].get();
    batcher.CheckRoom(signature_);
  }
  EXPECT_EQ(last.code(), Code::kUnavailable);
  EXPECT_EQ(answers[0].get().message(), "the server stops");
}

// A run by the team is not disturbed by another: what comes meanwhile waits, and runs together.
TEST_F(BatcherTest, WhatComesDuringARunOfTheTeamWaits) {
  LookSlow();
  for (int i = 0; i < 200; ++i) signature_.RecordRun(1, std::chrono::seconds(10));
  for (int i = 0; i < 3; ++i) signature_.Shares(1);  // the slower way is tried at times
  std::promise<void> entered, leave;
  std::atomic<int64_t> rows{0}, runs{0};
  Batcher batcher({.enabled = true, .max_batch_size = 8, .threads = 3},
                  [&](const BatchReport& report) {
                    rows += report.rows;
                    ++runs;
                  });
  batcher.Submit(Request({1}), [&](const Status&, std::vector<Tensor>) {
    entered.set_value();
    leave.get_future().wait();
  });
  entered.get_future().wait();
  std::atomic<int> answers{0};
  for (int i = 0; i < 3; ++i) {
    LookSlow();
    batcher.Submit(Request({2}), [&](const Status&, std::vector<Tensor>) { ++answers; });
  }
  std::this_thread::yield();
  EXPECT_EQ(answers, 0);
  EXPECT_EQ(batcher.num_waiting(), 3);
  leave.set_value();
  while (runs < 2) std::this_thread::yield();
  EXPECT_EQ(rows, 4);
}

TEST_F(BatcherTest, TellsBeforeARequestIsReadThatItHasNoRoom) {
  LookSlow();
  std::promise<void> entered, leave;
  Batcher batcher({.max_enqueued_batches = 2, .threads = 1});
  const auto submit = [&](const InferenceDone& done) { batcher.Submit(Request({1}), done); };
  submit([&](const Status&, std::vector<Tensor>) {
    entered.set_value();
    leave.get_future().wait();
  });
  entered.get_future().wait();  // the only thread is busy
  std::atomic<int> answers{0};
  for (int i = 0; i < 2; ++i) {
    batcher.CheckRoom(signature_);
    submit([&](const Status& status, std::vector<Tensor>) { answers += status.ok() ? 1 : 0; });
  }
  EXPECT_EQ(StatusOf([&] { batcher.CheckRoom(signature_); }).code(), Code::kUnavailable);
  leave.set_value();
  while (answers < 2) std::this_thread::yield();
  batcher.CheckRoom(signature_);
}

TEST_F(BatcherTest, EveryRequestOfABatchHasItsOwnError) {
  Batcher batcher({.enabled = true, .max_batch_size = 4, .timeout_micros = 10000});
  InferenceRequest wrong = Request({1});
  wrong.inputs = {Tensor::Of<int32_t>({1})};
  std::promise<Status> promise;
  batcher.Submit(std::move(wrong),
                 [&](const Status& status, std::vector<Tensor>) { promise.set_value(status); });
  ExpectAnswer({5}, batcher.Run(Request({5})));
  EXPECT_EQ(promise.get_future().get().code(), Code::kInvalidArgument);
}

TEST_F(BatcherTest, ServesManyThreads) {
  LookSlow();
  Batcher batcher({.enabled = true, .max_batch_size = 16});
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, i] {
      for (int k = 0; k < 100; ++k) {
        const std::vector<float> x(1 + (i + k) % 3, static_cast<float>(i * 1000 + k));
        ExpectAnswer(x, batcher.Run(Request(x)));
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(batcher.num_waiting(), 0);
}

}  // namespace
}  // namespace sextant::serving
