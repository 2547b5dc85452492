// Threads take the queue with the oldest front, form a batch of joinable requests from it and run
// it.
//
// A batch that leaves nothing waiting is run by the team of all cores, where that is faster, and
// the others wait until it has ended: a second run beside it would slow both, since the team waits
// for its slowest thread. Where more is waiting, each thread runs its batches alone.
//
// Short runs are made by the thread that has the request, which may have more of them: it queues
// the request and asks to be called again after what else it has read is queued too. Then it runs
// all of them as one batch. No other thread is woken up, since that takes longer than the run.
//
// With a latency target a thread that has formed a batch may wait for as many rows as BatchSteering
// says, while the oldest request still ends in half of the target: the other half is for what
// nobody foresees.
#include "sextant/serving/batcher.h"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "sextant/serving/batch.h"
#include "sextant/serving/batch_queues.h"
#include "sextant/serving/split_request.h"

namespace sextant::serving {
namespace {

using std::chrono::nanoseconds;

// Runs up to this long are made by the thread that has the request.
constexpr std::chrono::microseconds kShortRun{300};

constexpr const char* kTooMany = "too many requests wait; try again later";

int64_t RowsOf(const std::vector<BatchTask>& tasks) {
  int64_t rows = 0;
  for (const BatchTask& task : tasks) rows += task.rows;
  return rows;
}

}  // namespace

class Batcher::State {
 public:
  State(const BatchingConfig& config, Observe observe, std::shared_ptr<BatchClock> clock)
      : config_(config),
        num_threads_(BatchThreads(config)),
        observe_(std::move(observe)),
        clock_(std::move(clock)),
        queues_(config_, num_threads_) {
    for (int64_t i = 0; i < num_threads_; ++i) threads_.emplace_back([this] { Work(); });
  }
  ~State() {
    std::vector<BatchTask> left;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      left = queues_.TakeAll();
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    for (BatchTask& task : left) task.done(Status(Code::kUnavailable, "the server stops"), {});
  }

  void Submit(InferenceRequest request, InferenceDone done);

  void SetLatencyTarget(const std::string& model, nanoseconds target) {
    const std::lock_guard lock(mutex_);
    targets_[model] = target;
  }
  int64_t num_waiting() const { return queues_.num_waiting(); }

  void CheckRoom(const ServableSignature& signature) {
    if (num_waiting() == 0) return;
    const std::lock_guard lock(mutex_);
    if (queues_.Refuses(signature, clock_->Now())) {
      throw MakeError<Code::kUnavailable>("{}", kTooMany);
    }
  }

 private:
  bool Batches(const ServableSignature& signature) const {
    return config_.enabled && signature.batchable();
  }
  static bool IsShort(const ServableSignature& signature, int64_t rows) {
    const nanoseconds expected = signature.RunTime(rows);
    return expected.count() > 0 && expected <= kShortRun;
  }
  // What the batch may be padded to. A request that is alone keeps its size, unless the
  // configuration has another: the next of the same client will have it too.
  std::span<const int64_t> SizesFor(const std::vector<BatchTask>& batch) const {
    if (!Batches(*batch[0].request.signature)) return {};
    if (!config_.allowed_sizes.empty()) return config_.allowed_sizes;
    if (batch.size() == 1) return {};
    return batch[0].request.signature->prepared();
  }
  // Whether the batch, which is about to run, should have the team for itself.
  bool SharesTeam(const std::vector<BatchTask>& batch) const {
    const bool rest_waits = num_threads_ > 1 && num_waiting() > 0;
    if (num_running_ > 0 || rest_waits) return false;
    return batch[0].request.signature->Shares(RowsOf(batch));
  }

  // Whether it was queued; else it has been refused.
  bool Enqueue(BatchTask task, bool wake);
  // Runs what waits for the signature on this thread, if that is short.
  void RunGathered(const ServableSignature& signature);
  nanoseconds TargetOf(const BatchQueue& queue) const;
  // Until when a batch of the queue may wait for more requests. REQUIRES: it has one.
  Clock::time_point WaitsUntil(const BatchQueue& queue) const;
  void Work();
  // "queued": the tasks were in a queue.
  void Run(std::vector<BatchTask>& batch, bool share, bool queued) {
    // A client that is answered asks again: it must not be counted twice.
    const auto computed = [&] {
      if (queued) Ended(batch);
    };
    const BatchReport report = RunBatch(batch, SizesFor(batch), share, clock_->Now(), computed);
    if (observe_) observe_(report);
  }
  void Drop(std::vector<BatchTask>& dropped);
  void Ended(const std::vector<BatchTask>& tasks) {
    const std::lock_guard lock(mutex_);
    const auto now = clock_->Now();
    for (const BatchTask& task : tasks) {
      task.request.signature->steering().Ended(now, task.rows);
    }
  }

  const BatchingConfig config_;
  const int64_t num_threads_;
  const Observe observe_;
  const std::shared_ptr<BatchClock> clock_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  BatchQueues queues_;
  std::map<std::string, nanoseconds> targets_;
  bool stopping_ = false;
  int num_forming_ = 0;     // threads that wait for a batch to become fuller
  int num_running_ = 0;     // threads that run a batch
  bool team_runs_ = false;  // one of them shares it among all cores
  std::vector<std::thread> threads_;
};

void Batcher::State::Submit(InferenceRequest request, InferenceDone done) {
  BatchTask task{std::move(request), std::move(done), 1, clock_->Now()};
  try {
    task.rows = serving::RowsOf(task.request);
  } catch (const Error& error) {
    return task.done(error.status(), {});
  }
  const ServableSignature& signature = *task.request.signature;
  const bool batches = Batches(signature);
  if (batches && task.rows > config_.max_batch_size) {
    const int64_t most = config_.split_large ? config_.max_request_rows : config_.max_batch_size;
    if (most > 0 && task.rows > most) {
      return task.done(Status(Code::kInvalidArgument,
                              fmt::format("the request has {} rows, but at most {} are taken: send "
                                          "several, or raise max_batch_size",
                                          task.rows, most)),
                       {});
    }
    for (BatchTask& part : SplitTask(std::move(task), config_.max_batch_size)) {
      Enqueue(std::move(part), /*wake=*/true);
    }
    return;
  }
  const bool here = (!config_.enabled || config_.timeout_micros == 0) &&
                    IsShort(signature, task.rows) && task.request.deadline > task.arrived;
  if (here && batches && task.request.again) {
    const auto again = std::move(task.request.again);
    const auto servable = task.request.servable;  // keeps the signature
    if (!Enqueue(std::move(task), /*wake=*/false)) return;
    return again([this, servable, &signature] { RunGathered(signature); });
  }
  // Without batches nothing is gained by waiting behind others.
  if (here && (!config_.enabled || num_waiting() == 0)) {
    std::vector<BatchTask> alone;
    alone.push_back(std::move(task));
    return Run(alone, /*share=*/false, /*queued=*/false);
  }
  Enqueue(std::move(task), /*wake=*/true);
}

bool Batcher::State::Enqueue(BatchTask task, bool wake) {
  {
    const std::lock_guard lock(mutex_);
    const ServableSignature& signature = *task.request.signature;
    const auto arrived = task.arrived;
    const int64_t rows = task.rows;
    if (!stopping_ && queues_.TryAdd(task)) {
      signature.steering().Arrived(arrived, rows);
      if (num_forming_ > 0) {
        wake_.notify_all();
      } else if (wake) {
        wake_.notify_one();
      }
      return true;
    }
  }
  task.done(Status(Code::kUnavailable, kTooMany), {});
  return false;
}

// For each request queued without waking a thread this is called once, after it was queued. Each
// call takes at least the front of the queue, or leaves all to the threads of the batcher: nothing
// is forgotten.
void Batcher::State::RunGathered(const ServableSignature& signature) {
  std::vector<BatchTask> batch, dropped;
  {
    const std::lock_guard lock(mutex_);
    const BatchQueues::Ref queue = queues_.Find(signature);
    if (queue == queues_.end() || queue->forming) return;
    if (!IsShort(signature, queues_.BatchRows(*queue))) return wake_.notify_one();
    batch = queues_.Take(queue, clock_->Now(), &dropped);
  }
  Drop(dropped);
  if (!batch.empty()) Run(batch, /*share=*/false, /*queued=*/true);
}

nanoseconds Batcher::State::TargetOf(const BatchQueue& queue) const {
  const auto target = targets_.find(queue.tasks.front().request.servable->model());
  return target == targets_.end() ? nanoseconds(0) : target->second;
}

Clock::time_point Batcher::State::WaitsUntil(const BatchQueue& queue) const {
  const auto arrived = queue.tasks.front().arrived;
  if (!Batches(*queue.signature) || queue.rows >= config_.max_batch_size) return arrived;
  const nanoseconds target = TargetOf(queue);
  if (target.count() == 0) return arrived + std::chrono::microseconds(config_.timeout_micros);
  const int64_t wanted = std::min(queue.signature->steering().WantedRows(), config_.max_batch_size);
  return queue.rows >= wanted ? arrived : arrived + target / 2 - queue.signature->RunTime(wanted);
}

void Batcher::State::Drop(std::vector<BatchTask>& dropped) {
  if (dropped.empty()) return;
  Ended(dropped);
  for (BatchTask& task : dropped) {
    const bool late = task.request.deadline <= clock_->Now();
    task.done(late ? Status(Code::kDeadlineExceeded, "the request waited beyond its deadline")
                   : Status(Code::kCancelled, "the client has gone"),
              {});
  }
}

void Batcher::State::Work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const BatchQueues::Ref queue = queues_.Oldest();
    if (queue == queues_.end() || team_runs_) {
      wake_.wait(lock);
      continue;
    }
    const auto until = WaitsUntil(*queue);
    if (until > clock_->Now()) {
      queue->forming = true;
      ++num_forming_;
      clock_->WaitUntil(wake_, lock, until);
      --num_forming_;
      if (stopping_) return;
      queue->forming = false;
      if (WaitsUntil(*queue) == until && clock_->Now() >= until) {
        queue->signature->steering().WaitedInVain();
      }
      continue;  // looked at again
    }
    std::vector<BatchTask> dropped;
    std::vector<BatchTask> batch = queues_.Take(queue, clock_->Now(), &dropped);
    if (num_waiting() > 0) wake_.notify_one();
    const bool share = !batch.empty() && SharesTeam(batch);
    team_runs_ = share;
    ++num_running_;
    lock.unlock();
    Drop(dropped);
    if (!batch.empty()) Run(batch, share, /*queued=*/true);
    batch.clear();  // may be the last to hold a servable
    dropped.clear();
    lock.lock();
    --num_running_;
    if (share) {
      team_runs_ = false;
      wake_.notify_all();
    }
  }
}

int64_t BatchThreads(const BatchingConfig& config) {
  return config.threads > 0 ? config.threads : std::max(1U, std::thread::hardware_concurrency());
}

Batcher::Batcher(const BatchingConfig& config, Observe observe, std::shared_ptr<BatchClock> clock)
    : state_(std::make_unique<State>(config, std::move(observe), std::move(clock))) {}
Batcher::~Batcher() = default;
void Batcher::Submit(InferenceRequest request, InferenceDone done) {
  state_->Submit(std::move(request), std::move(done));
}
std::vector<Tensor> Batcher::Run(InferenceRequest request) {
  std::promise<std::vector<Tensor>> result;
  Submit(std::move(request), [&](const Status& status, std::vector<Tensor> outputs) {
    if (status.ok()) {
      result.set_value(std::move(outputs));
    } else {
      result.set_exception(std::make_exception_ptr(Error(status)));
    }
  });
  return result.get_future().get();
}
void Batcher::SetLatencyTarget(const std::string& model, nanoseconds target) {
  state_->SetLatencyTarget(model, target);
}
void Batcher::CheckRoom(const ServableSignature& signature) const { state_->CheckRoom(signature); }
int64_t Batcher::num_waiting() const { return state_->num_waiting(); }

}  // namespace sextant::serving
