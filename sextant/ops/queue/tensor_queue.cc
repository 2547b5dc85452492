#include "sextant/ops/queue/tensor_queue.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/ops/queue/tuple_batch.h"

namespace sextant {
namespace {

std::string TypeNames(const std::vector<DType>& types) {
  std::vector<std::string> names;
  for (const DType type : types) names.push_back(DTypeName(type));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string ShapeNames(const std::vector<PartialShape>& shapes) {
  std::vector<std::string> names;
  for (const PartialShape& shape : shapes) names.push_back(shape.ToString());
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::unique_ptr<TupleStore> MakeStore(const QueueSpec& spec) {
  if (spec.kind == "RandomShuffleQueue") return MakeShuffleStore(spec.seed, spec.seed2);
  if (spec.kind == "PriorityQueue") return MakePriorityStore();
  return MakeFifoStore();
}

}  // namespace

// A caller's place in a line, until it is destroyed: then the next one may be served.
// REQUIRES: the queue's mutex held, both times.
class TensorQueue::Place {
 public:
  Place(TensorQueue& queue, Line& line, Caller* caller)
      : queue_(queue), line_(line), at_(line.insert(line.end(), caller)) {}
  ~Place() {
    line_.erase(at_);
    queue_.WakeFirst();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  TensorQueue& queue_;
  Line& line_;
  const Line::iterator at_;
};

TensorQueue::TensorQueue(QueueSpec spec) : spec_(std::move(spec)), store_(MakeStore(spec_)) {
  const bool padding = spec_.kind == "PaddingFIFOQueue";
  if (!(spec_.shapes.empty() && !padding) && spec_.shapes.size() != spec_.types.size()) {
    throw InvalidArgument("Different number of component types.  Types: {}, Shapes: {}",
                          TypeNames(spec_.types), ShapeNames(spec_.shapes));
  }
  for (const PartialShape& shape : spec_.shapes) {
    if (padding && !shape.rank_known()) {
      throw InvalidArgument("shape {} must have known rank.", shape.ToString());
    }
    if (!padding && !shape.fully_known()) {
      throw InvalidArgument("Shape {} is not fully defined", shape.ToString());
    }
  }
  if (spec_.kind == "RandomShuffleQueue") {
    if (spec_.min_after_dequeue < 0) {
      throw InvalidArgument("min_after_dequeue {} must be >= 0", spec_.min_after_dequeue);
    }
    if (spec_.capacity > 0 && spec_.min_after_dequeue >= spec_.capacity) {
      throw InvalidArgument("min_after_dequeue {} must be < capacity {}", spec_.min_after_dequeue,
                            spec_.capacity);
    }
  }
}

void TensorQueue::CheckLike(const QueueSpec& spec) const {
  const auto refuse = [&](const char* what, const std::string& has, const std::string& requested) {
    throw InvalidArgument("Shared queue '{}' has {} {} but requested {} {}", spec_.name, what, has,
                          what, requested);
  };
  if (spec.kind != spec_.kind) refuse("kind", spec_.kind, spec.kind);
  if (spec.capacity != spec_.capacity) {
    refuse("capacity", std::to_string(spec_.capacity), std::to_string(spec.capacity));
  }
  if (spec.types != spec_.types) {
    refuse("component types", TypeNames(spec_.types), TypeNames(spec.types));
  }
  if (spec.shapes != spec_.shapes) {
    refuse("component shapes", ShapeNames(spec_.shapes), ShapeNames(spec.shapes));
  }
  if (spec.min_after_dequeue != spec_.min_after_dequeue) {
    refuse("min_after_dequeue", std::to_string(spec_.min_after_dequeue),
           std::to_string(spec.min_after_dequeue));
  }
  // Seeds 0, 0 ask for any seeds.
  const bool seeded = spec.seed != 0 || spec.seed2 != 0;
  if (seeded && (spec.seed != spec_.seed || spec.seed2 != spec_.seed2)) {
    refuse("random seeds", fmt::format("({}, {})", spec_.seed, spec_.seed2),
           fmt::format("({}, {})", spec.seed, spec.seed2));
  }
}

void TensorQueue::CheckTypes(const Tuple& tuple) const {
  std::vector<DType> types;
  for (const Tensor& component : tuple) types.push_back(component.dtype());
  if (types == spec_.types) return;
  throw InvalidArgument("{} '{}' has components of types {}, not {}", spec_.kind, spec_.name,
                        TypeNames(spec_.types), TypeNames(types));
}

void TensorQueue::Enqueue(Tuple tuple, const RunWait& wait) {
  CheckTypes(tuple);
  for (size_t i = 0; i < tuple.size(); ++i) {
    if (!spec_.shapes.empty() && !spec_.shapes[i].CompatibleWith(tuple[i].shape())) {
      throw InvalidArgument("Shape mismatch in tuple component {}. Expected {}, got {}", i,
                            spec_.shapes[i].ToString(), tuple[i].shape().ToString());
    }
    tuple[i] = tuple[i].Persistent();
  }
  std::vector<Tuple> one;
  one.push_back(std::move(tuple));
  Add(std::move(one), wait);
}

void TensorQueue::EnqueueMany(const Tuple& batch, const RunWait& wait) {
  CheckTypes(batch);
  std::vector<Tuple> tuples = SplitBatch(batch);
  for (size_t i = 0; i < batch.size() && !spec_.shapes.empty(); ++i) {
    PartialShape expected = spec_.shapes[i];
    expected.Insert(0, batch[i].dim(0));
    if (!expected.CompatibleWith(batch[i].shape())) {
      throw InvalidArgument("Shape mismatch in tuple component {}. Expected {}, got {}", i,
                            expected.ToString(), batch[i].shape().ToString());
    }
  }
  Add(std::move(tuples), wait);
}

void TensorQueue::Add(std::vector<Tuple> tuples, const RunWait& wait) {
  if (tuples.empty()) return;
  const auto registration = WakeWhenCancelled(wait);
  std::unique_lock lock(mutex_);
  Caller me{.what = "Enqueue"};
  const Place place(*this, enqueuers_, &me);
  for (Tuple& tuple : tuples) {
    Await(lock, enqueuers_, me, wait, [this] { return closed_ || !full(); });
    if (closed_) {
      throw Error(Code::kCancelled, fmt::format("{} '{}' is closed.", spec_.kind, spec_.name));
    }
    store_->Push(std::move(tuple));
    WakeFirst();
  }
}

Tuple TensorQueue::Dequeue(const RunWait& wait) { return std::move(Take(1, false, wait)[0]); }

Tuple TensorQueue::DequeueMany(int64_t count, bool or_fewer, const RunWait& wait) {
  if (count < 0) throw InvalidArgument("DequeueManyOp requested {} < 0 elements", count);
  if (spec_.shapes.empty()) {
    throw InvalidArgument(
        "{}'s DequeueMany and DequeueUpTo require the components to have specified shapes.",
        spec_.kind);
  }
  const auto tuples = count == 0 ? std::vector<Tuple>() : Take(count, or_fewer, wait);
  return MakeBatch(tuples, spec_.types, spec_.shapes);
}

std::vector<Tuple> TensorQueue::Take(int64_t count, bool or_fewer, const RunWait& wait) {
  const auto registration = WakeWhenCancelled(wait);
  std::unique_lock lock(mutex_);
  Caller me{.what = "Dequeue"};
  const Place place(*this, dequeuers_, &me);
  std::vector<Tuple> taken;
  const auto missing = [&] { return count - static_cast<int64_t>(taken.size()); };
  try {
    while (missing() > 0) {
      Await(lock, dequeuers_, me, wait, [this] { return closed_ || available() > 0; });
      if (closed_ && available() < missing()) {
        if (!or_fewer || (taken.empty() && available() == 0)) ThrowExhausted(missing());
        count = static_cast<int64_t>(taken.size()) + available();
      }
      while (missing() > 0 && available() > 0) taken.push_back(store_->Pop());
      WakeFirst();
    }
  } catch (...) {
    store_->PutBack(std::move(taken));
    throw;
  }
  return taken;
}

void TensorQueue::Close(bool cancel_pending, const RunWait& wait) {
  const auto registration = WakeWhenCancelled(wait);
  std::unique_lock lock(mutex_);
  if (cancel_pending) {
    for (Caller* caller : enqueuers_) caller->cancelled = true;
  } else {
    Caller me{.what = "Close"};
    const Place place(*this, enqueuers_, &me);
    Await(lock, enqueuers_, me, wait, [] { return true; });
    if (closed_) {
      throw Error(Code::kCancelled, fmt::format("Queue '{}' is already closed.", spec_.name));
    }
  }
  closed_ = true;
  WakeAll();
}

// Made before the lock is taken, because the callback takes it, and destroyed after.
RunWait::Registration TensorQueue::WakeWhenCancelled(const RunWait& wait) {
  return wait.OnCancel([this] {
    std::lock_guard lock(mutex_);
    WakeAll();
  });
}

void TensorQueue::WakeFirst() {
  for (const Line* line : {&enqueuers_, &dequeuers_}) {
    if (line->empty()) continue;
    Caller& first = *line->front();
    if (first.ready != nullptr && (*first.ready)()) first.changed.notify_one();
  }
}

void TensorQueue::WakeAll() {
  for (const Line* line : {&enqueuers_, &dequeuers_}) {
    for (Caller* caller : *line) caller->changed.notify_one();
  }
}

void TensorQueue::Await(std::unique_lock<std::mutex>& lock, const Line& line, Caller& caller,
                        const RunWait& wait, FunctionRef<bool()> ready) {
  caller.ready = &ready;
  wait.Until(lock, caller.changed, [&] {
    return caller.cancelled || wait.cancelled() || (line.front() == &caller && ready());
  });
  caller.ready = nullptr;
  if (!caller.cancelled && !wait.cancelled()) return;
  const Status status = wait.status();
  throw Error(status.ok() ? Code::kCancelled : status.code(),
              fmt::format("{} operation on {} '{}' was cancelled{}{}", caller.what, spec_.kind,
                          spec_.name, status.ok() ? "" : ": ", status.message()));
}

int64_t TensorQueue::available() const {
  return closed_ ? store_->size() : store_->size() - spec_.min_after_dequeue;
}

void TensorQueue::ThrowExhausted(int64_t wanted) const {
  throw OutOfRange(
      "{} '{}' is closed and has insufficient elements (requested {}, current size {})", spec_.kind,
      spec_.name, wanted, store_->size());
}

bool TensorQueue::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

int64_t TensorQueue::size() const {
  std::lock_guard lock(mutex_);
  return store_->size();
}

}  // namespace sextant
