// How requests wait: a queue per signature, whose front is the request that has waited longest.
// Threads take the queue with the oldest front, form a batch of joinable requests from it and run
// it. Requests behind one that does not fit stay in their order, so nobody waits for ever.
//
// A batch that leaves nothing waiting is run by the team of all cores, where that is faster, and
// the others wait until it has ended: a second run beside it would slow both, since the team waits
// for its slowest thread. Where more is waiting, each thread runs its batches alone.
//
// With a latency target a thread that has formed a batch of n rows may wait for the next arrival.
// Let t(n) be the measured time of a run of n rows and g the mean gap between arrivals. Running
// now and the next one later takes t(n) + t(1); together, t(n+1) after a wait of g. It waits when
// that is less, g < t(n) + t(1) - t(n+1), and the oldest request still ends in time: its age + g +
// t(n+1) < target. Example: t(1) = 4 ms, t(2) = 5 ms, g = 1 ms, target 20 ms: it waits; at g = 5 ms
// it does not.
#include "sextant/serving/batcher.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#include "sextant/serving/batch.h"

namespace sextant::serving {
namespace {

using std::chrono::nanoseconds;

// Runs up to this long are made by the thread that has the request.
constexpr std::chrono::microseconds kShortRun{300};

constexpr const char* kTooMany = "too many requests wait; try again later";

// A large request in parts: the whole is done when its parts are.
struct SplitRequest {
  std::mutex mutex;
  size_t missing = 0;
  Status status;
  std::vector<std::vector<Tensor>> parts;
  InferenceDone done;
};

}  // namespace

class Batcher::State {
 public:
  State(const BatchingConfig& config, Observe observe)
      : config_(config), num_threads_(BatchThreads(config)), observe_(std::move(observe)) {
    for (int64_t i = 0; i < num_threads_; ++i) threads_.emplace_back([this] { Work(); });
  }
  ~State() {
    std::list<Queue> left;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      left.swap(queues_);
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    for (Queue& queue : left) {
      for (BatchTask& task : queue.tasks) {
        task.done(Status(Code::kUnavailable, "the server stops"), {});
      }
    }
  }

  void Submit(InferenceRequest request, InferenceDone done) {
    BatchTask task{std::move(request), std::move(done), 1, Clock::now()};
    try {
      task.rows = RowsOf(task.request);
    } catch (const Error& error) {
      return task.done(error.status(), {});
    }
    task.request.signature->RecordArrival(task.arrived);
    const bool batches = config_.enabled && task.request.signature->batchable();
    if (batches && task.rows > config_.max_batch_size) return SubmitLarge(std::move(task));
    if (RunsHere(task)) {
      std::vector<BatchTask> alone;
      alone.push_back(std::move(task));
      running_.fetch_add(1, std::memory_order_relaxed);
      Report(RunBatch(alone, SizesFor(alone), false));
      running_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    Enqueue(std::move(task));
  }

  void SetLatencyTarget(const std::string& model, nanoseconds target) {
    const std::lock_guard lock(mutex_);
    targets_[model] = target;
  }
  int64_t num_waiting() const { return num_waiting_.load(std::memory_order_relaxed); }

  void CheckRoom(const ServableSignature& signature) const {
    if (num_waiting() == 0) return;
    const std::lock_guard lock(mutex_);
    for (const Queue& queue : queues_) {
      if (queue.signature == &signature && !HasRoom(queue, 1)) {
        throw MakeError<Code::kUnavailable>("{}", kTooMany);
      }
    }
  }

 private:
  struct Queue {
    const ServableSignature* signature = nullptr;
    std::deque<BatchTask> tasks;
    int64_t rows = 0;
    Clock::time_point last_arrival;
    bool forming = false;  // a thread waits for more
  };
  using QueueRef = std::list<Queue>::iterator;

  bool RunsHere(const BatchTask& task) const {
    // Without batches nothing is gained by waiting behind others.
    if (config_.enabled && (num_waiting() > 0 || config_.timeout_micros > 0)) return false;
    const nanoseconds expected = task.request.signature->RunTime(task.rows);
    return expected.count() > 0 && expected <= kShortRun && task.request.deadline > task.arrived;
  }

  // How many rows the next batch of the queue may have.
  int64_t BatchRows(const Queue& queue) const {
    const int64_t most = std::min(queue.rows, config_.max_batch_size);
    return config_.allowed_sizes.empty() ? queue.signature->NextBatch(most) : most;
  }
  // What the batch may be padded to. A request that is alone keeps its size, unless the
  // configuration has another: the next of the same client will have it too.
  std::span<const int64_t> SizesFor(const std::vector<BatchTask>& batch) const {
    if (!config_.enabled || !batch[0].request.signature->batchable()) return {};
    if (!config_.allowed_sizes.empty()) return config_.allowed_sizes;
    if (batch.size() == 1) return {};
    return batch[0].request.signature->prepared();
  }
  // For one more request of so many rows.
  bool HasRoom(const Queue& queue, int64_t rows) const {
    if (queue.tasks.empty()) return true;
    const int64_t most = config_.max_enqueued_batches;
    return config_.enabled && queue.signature->batchable()
               ? queue.rows + rows <= most * config_.max_batch_size
               : static_cast<int64_t>(queue.tasks.size()) < most;
  }

  void Enqueue(BatchTask task) {
    {
      const std::lock_guard lock(mutex_);
      if (!stopping_) {
        const QueueRef queue = FindQueue(task.request.signature);
        if (HasRoom(*queue, task.rows)) {
          queue->last_arrival = task.arrived;
          queue->rows += task.rows;
          queue->tasks.push_back(std::move(task));
          num_waiting_.fetch_add(1, std::memory_order_relaxed);
          if (num_forming_ > 0) {
            wake_.notify_all();
          } else {
            wake_.notify_one();
          }
          return;
        }
      }
    }
    task.done(Status(Code::kUnavailable, kTooMany), {});
  }

  void SubmitLarge(BatchTask task);

  QueueRef FindQueue(const ServableSignature* signature) {
    for (QueueRef queue = queues_.begin(); queue != queues_.end(); ++queue) {
      if (queue->signature == signature) return queue;
    }
    Queue queue;
    queue.signature = signature;
    return queues_.insert(queues_.end(), std::move(queue));
  }

  QueueRef Oldest() {
    QueueRef oldest = queues_.end();
    for (QueueRef queue = queues_.begin(); queue != queues_.end(); ++queue) {
      if (queue->tasks.empty() || queue->forming) continue;
      if (oldest == queues_.end() || queue->tasks.front().arrived < oldest->tasks.front().arrived) {
        oldest = queue;
      }
    }
    return oldest;
  }

  // Whether the batch, which is about to run, should have the team for itself.
  bool SharesTeam(const std::vector<BatchTask>& batch) const {
    const bool rest_waits = num_threads_ > 1 && num_waiting() > 0;
    if (num_running_ > 0 || rest_waits) return false;
    int64_t rows = 0;
    for (const BatchTask& task : batch) rows += task.rows;
    return batch[0].request.signature->Shares(rows);
  }
  // Until when a batch of the queue may wait for more requests. REQUIRES: it has one.
  Clock::time_point WaitsUntil(const Queue& queue) const;
  void Work();
  std::vector<BatchTask> TakeBatch(QueueRef queue, std::vector<BatchTask>* dropped);
  static void Drop(std::vector<BatchTask>& dropped);
  void Report(const BatchReport& report) const {
    if (observe_) observe_(report);
  }

  const BatchingConfig config_;
  const int64_t num_threads_;
  const Observe observe_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::list<Queue> queues_;
  std::map<std::string, nanoseconds> targets_;
  bool stopping_ = false;
  int num_forming_ = 0;     // threads that wait for a batch to become fuller
  int num_running_ = 0;     // threads that run a batch
  bool team_runs_ = false;  // one of them shares it among all cores
  std::atomic<int64_t> num_waiting_{0}, running_{0};
  std::vector<std::thread> threads_;
};

void Batcher::State::SubmitLarge(BatchTask task) {
  const int64_t most = config_.split_large ? config_.max_request_rows : config_.max_batch_size;
  if (most > 0 && task.rows > most) {
    return task.done(Status(Code::kInvalidArgument,
                            fmt::format("the request has {} rows, but at most {} are taken: send "
                                        "several, or raise max_batch_size",
                                        task.rows, most)),
                     {});
  }
  const auto split = std::make_shared<SplitRequest>();
  const int64_t count = (task.rows + config_.max_batch_size - 1) / config_.max_batch_size;
  split->missing = static_cast<size_t>(count);
  split->parts.resize(count);
  split->done = std::move(task.done);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = i * config_.max_batch_size;
    const int64_t end = std::min(task.rows, begin + config_.max_batch_size);
    BatchTask part{task.request, {}, end - begin, task.arrived};
    for (Tensor& input : part.request.inputs) {
      if (input.valid()) input = input.Rows(begin, end);
    }
    part.done = [split, i](const Status& status, std::vector<Tensor> outputs) {
      {
        const std::lock_guard lock(split->mutex);
        if (!status.ok()) split->status = status;
        split->parts[i] = std::move(outputs);
        if (--split->missing > 0) return;
      }
      if (!split->status.ok()) return split->done(split->status, {});
      std::vector<Tensor> whole;
      for (size_t k = 0; k < split->parts[0].size(); ++k) {
        whole.push_back(Concatenated(split->parts, k));
      }
      split->done(Status(), std::move(whole));
    };
    Enqueue(std::move(part));
  }
}

Clock::time_point Batcher::State::WaitsUntil(const Queue& queue) const {
  const BatchTask& front = queue.tasks.front();
  if (!config_.enabled || !queue.signature->batchable() || queue.rows >= config_.max_batch_size) {
    return front.arrived;
  }
  const auto target = targets_.find(front.request.servable->model());
  if (target == targets_.end() || target->second.count() == 0) {
    return front.arrived + std::chrono::microseconds(config_.timeout_micros);
  }
  const nanoseconds one = queue.signature->RunTime(1), now = queue.signature->RunTime(queue.rows),
                    joined = queue.signature->RunTime(queue.rows + 1);
  if (one.count() == 0 || now.count() == 0 || joined.count() == 0) return front.arrived;
  const nanoseconds gap = queue.signature->ArrivalGap();
  if (gap >= now + one - joined) return front.arrived;
  const auto last_moment = front.arrived + target->second - joined;
  return std::min(last_moment, queue.last_arrival + 2 * gap);
}

std::vector<BatchTask> Batcher::State::TakeBatch(QueueRef queue, std::vector<BatchTask>* dropped) {
  std::vector<BatchTask> batch;
  std::deque<BatchTask> rest;
  int64_t rows = 0;
  const int64_t most = BatchRows(*queue);
  const auto now = Clock::now();
  while (!queue->tasks.empty()) {
    BatchTask task = std::move(queue->tasks.front());
    queue->tasks.pop_front();
    const bool over =
        task.request.deadline <= now || (task.request.cancelled && task.request.cancelled());
    const bool fits =
        batch.empty() ||
        (rows + task.rows <= most && task.request.signature->batchable() && config_.enabled &&
         Joinable(batch[0].request, task.request, config_.pad_variable_length_inputs));
    if (!over && !fits) {
      rest.push_back(std::move(task));
      if (!config_.enabled) break;
      continue;
    }
    queue->rows -= task.rows;
    num_waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (over) {
      dropped->push_back(std::move(task));
    } else {
      rows += task.rows;
      batch.push_back(std::move(task));
    }
    if (!config_.enabled && !batch.empty()) break;
  }
  for (auto task = rest.rbegin(); task != rest.rend(); ++task) {
    queue->tasks.push_front(std::move(*task));
  }
  return batch;
}

void Batcher::State::Drop(std::vector<BatchTask>& dropped) {
  for (BatchTask& task : dropped) {
    const bool late = task.request.deadline <= Clock::now();
    task.done(late ? Status(Code::kDeadlineExceeded, "the request waited beyond its deadline")
                   : Status(Code::kCancelled, "the client has gone"),
              {});
  }
}

void Batcher::State::Work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const QueueRef queue = Oldest();
    if (queue == queues_.end() || team_runs_) {
      wake_.wait(lock);
      continue;
    }
    const auto until = WaitsUntil(*queue);
    if (until > Clock::now()) {
      queue->forming = true;
      ++num_forming_;
      wake_.wait_until(lock, until);
      --num_forming_;
      if (stopping_) return;
      queue->forming = false;
      continue;  // looked at again
    }
    std::vector<BatchTask> dropped;
    std::vector<BatchTask> batch = TakeBatch(queue, &dropped);
    // Signatures live as long as their servables, which requests hold: an empty queue is no more.
    if (queue->tasks.empty()) {
      queues_.erase(queue);
    } else {
      wake_.notify_one();
    }
    const bool share = !batch.empty() && SharesTeam(batch);
    team_runs_ = share;
    ++num_running_;
    lock.unlock();
    Drop(dropped);
    if (!batch.empty()) {
      Report(RunBatch(batch, SizesFor(batch), share));
    }
    batch.clear();
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

Batcher::Batcher(const BatchingConfig& config, Observe observe)
    : state_(std::make_unique<State>(config, std::move(observe))) {}
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
