// TensorQueue: the resource behind the queue ops. Thread-safe.
//
// Callers wait in one of two lines, one for enqueues (and orderly closes), one for dequeues; the
// first of a line is served first. While a caller waits, other steps of its Run go on (run_wait.h),
// among them the one that ends the wait. Cancelling the Run ends the wait with the token's status.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sextant/base/function_ref.h"
#include "sextant/device/run_wait.h"
#include "sextant/ops/queue/tuple_store.h"
#include "sextant/tensor/handle.h"
#include "sextant/tensor/shape.h"

namespace sextant {

struct QueueSpec {
  std::string kind;  // "FIFOQueue"
  std::string name;
  std::vector<DType> types;
  std::vector<PartialShape> shapes;  // empty, or one per type
  int64_t capacity = 0;
  int64_t min_after_dequeue = 0;
  int64_t seed = 0, seed2 = 0;
};

class TensorQueue final : public Resource {
 public:
  static constexpr const char* kTypeName = "Queue";
  // Throws INVALID_ARGUMENT when the spec contradicts itself.
  explicit TensorQueue(QueueSpec spec);

  // Throws INVALID_ARGUMENT unless a queue of "spec" would be like this one.
  void CheckLike(const QueueSpec& spec) const;
  const QueueSpec& spec() const { return spec_; }

  // Types and shapes that do not fit throw INVALID_ARGUMENT. A closed queue, or one closed with
  // cancel_pending meanwhile, throws CANCELLED.
  void Enqueue(Tuple tuple, const RunWait& wait);
  // All or, when it is ended meanwhile, the first of them.
  void EnqueueMany(const Tuple& batch, const RunWait& wait);

  // A closed queue with too few tuples throws OUT_OF_RANGE.
  Tuple Dequeue(const RunWait& wait);
  // "count" tuples as a batch, taken as they come, so that there may be more than the capacity.
  // When the queue is closed before: those taken, if "or_fewer" and there is one, else they are put
  // back.
  Tuple DequeueMany(int64_t count, bool or_fewer, const RunWait& wait);

  // Waits until the enqueues that came before are through; with cancel_pending, ends them instead.
  // Throws CANCELLED when the queue is closed already, unless cancel_pending.
  void Close(bool cancel_pending, const RunWait& wait);
  bool closed() const;
  int64_t size() const;

  std::string DebugString() const override { return spec_.kind; }

 private:
  struct Caller {
    const char* what;  // "Enqueue"
    bool cancelled = false;
    std::condition_variable changed;
    // While it waits: whether it can go on once it is the first of its line.
    const FunctionRef<bool()>* ready = nullptr;
  };
  using Line = std::list<Caller*>;
  class Place;

  RunWait::Registration WakeWhenCancelled(const RunWait& wait);
  void Add(std::vector<Tuple> tuples, const RunWait& wait);
  std::vector<Tuple> Take(int64_t count, bool or_fewer, const RunWait& wait);
  // REQUIRES: mutex_ held, for all below.
  void Await(std::unique_lock<std::mutex>& lock, const Line& line, Caller& caller,
             const RunWait& wait, FunctionRef<bool()> ready);
  // Wakes the callers whose turn it is. The others sleep on: many threads fill one queue.
  void WakeFirst();
  void WakeAll();
  bool full() const { return spec_.capacity > 0 && store_->size() >= spec_.capacity; }
  // Tuples that may be taken now.
  int64_t available() const;
  [[noreturn]] void ThrowExhausted(int64_t wanted) const;

  void CheckTypes(const Tuple& tuple) const;

  QueueSpec spec_;
  mutable std::mutex mutex_;
  std::unique_ptr<TupleStore> store_;
  Line enqueuers_, dequeuers_;
  bool closed_ = false;
};

}  // namespace sextant
