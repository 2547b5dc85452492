#include "sextant/ops/dataset/iterator_resource.h"

#include <chrono>
#include <utility>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/coding.h"
#include "sextant/base/error.h"
#include "sextant/base/logging.h"

namespace sextant {
namespace {

// Of a position that is a count of elements behind another one.
constexpr std::string_view kBehind = "SXBEHIND1\n";
// How long a cancelled training waits for an element that it has asked for, and for threads that
// read ahead to reach a position.
constexpr std::chrono::seconds kPatience(1);

// Cancels the iterator kPatience after the token, as long as it lives.
class DelayedCancel {
 public:
  DelayedCancel(CancellationToken& token, data::Iterator& iterator)
      : on_give_up_(give_up_.OnCancel([&iterator] { iterator.Cancel(); })),
        on_cancel_(token.OnCancel([this] { timer_.emplace(give_up_); })) {}

 private:
  struct Timer {
    explicit Timer(CancellationToken& token)
        : handle(DeadlineTimer::Schedule(std::chrono::steady_clock::now() + kPatience, token)) {}
    DeadlineTimer::Handle handle;
  };
  CancellationToken give_up_;
  const CancellationToken::Registration on_give_up_;
  std::optional<Timer> timer_;  // set by on_cancel_
  const CancellationToken::Registration on_cancel_;
};

struct IteratorPosition {
  std::string state;
  int64_t behind = 0;
};

std::string EncodePosition(const IteratorPosition& position) {
  std::string bytes(kBehind);
  PutFixed64(&bytes, static_cast<uint64_t>(position.behind));
  return bytes += position.state;
}

IteratorPosition DecodePosition(std::string_view bytes) {
  if (!bytes.starts_with(kBehind)) return {std::string(bytes)};
  bytes.remove_prefix(kBehind.size());
  uint64_t behind;
  if (!GetFixed64(&bytes, &behind) || static_cast<int64_t>(behind) < 0) {
    throw DataLoss("the saved position of an iterator is cut off");
  }
  return {std::string(bytes), static_cast<int64_t>(behind)};
}

}  // namespace

void IteratorResource::SetDefault(const data::Dataset& dataset) {
  const std::lock_guard lock(mutex_);
  if (!default_.valid()) default_ = dataset;
}

void IteratorResource::Begin(const data::Dataset& dataset) {
  const std::lock_guard lock(mutex_);
  Open(dataset);
}

void IteratorResource::BeginAnew() {
  const std::lock_guard lock(mutex_);
  OpenDefault();
  Open(data::Dataset(dataset_));
}

void IteratorResource::Rewind() {
  const std::lock_guard lock(mutex_);
  iterator_.reset();
  awaited_.clear();
  pending_.reset();
}

void IteratorResource::Open(const data::Dataset& dataset) {
  dataset_ = dataset;
  iterator_ = dataset_.MakeIterator();
  ended_ = false;
  awaited_.clear();
  saved_.reset();
  given_ = skip_ = 0;
  const auto state = std::exchange(pending_, std::nullopt);
  if (!state) return;
  try {
    IteratorPosition position = DecodePosition(*state);
    iterator_->RestoreState(position.state);
    if (position.behind == 0) return;
    LogInfo("Skipping {} elements of the input that were used before.", position.behind);
    given_ = skip_ = position.behind;
    saved_ = std::move(position.state);
  } catch (const Error& e) {
    if (e.code() != Code::kFailedPrecondition || !or_begin_anew_) throw;
    // E.g. other files, or another size of batches, in a training that goes on.
    LogWarning("The input is not the one that was saved, so it begins anew: {}", e.message());
    iterator_ = dataset_.MakeIterator();
  }
}

void IteratorResource::OpenDefault() {
  if (iterator_) return;
  if (!default_.valid()) {
    throw FailedPrecondition(
        "the iterator has not been initialized: run its initializer, or feed the outputs of "
        "IteratorGetNext");
  }
  Open(default_);
}

void IteratorResource::Skip() {
  for (; skip_ > 0 && !ended_; --skip_) {
    try {
      ended_ = !iterator_->Next(&element_);
    } catch (const Error& e) {  // as when it was given
      if (e.code() == Code::kCancelled) throw;
    }
  }
  skip_ = 0;
}

bool IteratorResource::Take(data::Element* element) {
  Skip();
  if (!ended_) ended_ = !iterator_->Next(element);
  return !ended_;
}

bool IteratorResource::Await(size_t elements, CancellationToken& cancellation) {
  const std::lock_guard lock(mutex_);
  OpenDefault();
  if (!saved_) {
    saved_ = iterator_->SaveState();
    given_ = 0;
  }
  while (awaited_.size() < elements && (awaited_.empty() || !awaited_.back().end)) {
    Result result;
    std::swap(result.element, element_);  // its buffers
    try {
      const DelayedCancel delayed(cancellation, *iterator_);
      result.end = !Take(&result.element);
    } catch (const Error& e) {
      if (e.code() == Code::kCancelled && cancellation.cancelled()) cancellation.ThrowIfCancelled();
      result.status = e.status();
    }
    awaited_.push_back(std::move(result));
  }
  return !awaited_.front().end;
}

Status IteratorResource::AwaitedError() {
  const std::lock_guard lock(mutex_);
  for (const Result& result : awaited_) {
    if (!result.status.ok()) return result.status;
  }
  return {};
}

bool IteratorResource::Next(std::span<Tensor> components, std::span<const DType> types,
                            std::span<const PartialShape> shapes, CancellationToken& cancellation) {
  const std::lock_guard lock(mutex_);
  OpenDefault();
  if (awaited_.empty()) {
    try {
      const auto registration = cancellation.OnCancel([this] { iterator_->Cancel(); });
      if (!Take(&element_)) return false;
    } catch (const Error& e) {
      if (!cancellation.cancelled()) ++given_;  // a failed element is passed over
      // The iterator knows no more than that it was cancelled.
      if (e.code() == Code::kCancelled) cancellation.ThrowIfCancelled();
      throw;
    }
  } else {
    if (awaited_.front().end) return false;  // and stays there
    Result result = std::move(awaited_.front());
    awaited_.pop_front();
    if (!result.status.ok()) ++given_;
    result.status.ThrowIfError();
    std::swap(element_, result.element);
  }
  ++given_;
  const auto& fields = element_.fields();
  if (fields.size() != components.size()) {
    throw InvalidArgument("an element has {} fields ({}), the iterator {}", fields.size(),
                          element_.Describe(), components.size());
  }
  for (size_t i = 0; i < components.size(); ++i) {
    const Tensor& component = components[i] = fields[i].second;
    if (component.dtype() != types[i] || !shapes[i].CompatibleWith(component.shape())) {
      throw InvalidArgument("component {} of an element is {}, not {}{} as the iterator says", i,
                            component.Describe(), DTypeName(types[i]), shapes[i].ToString());
    }
  }
  return true;
}

std::optional<std::string> IteratorResource::SaveIterator() {
  CancellationToken* const outer = CancellationScope::Current();
  if (!saved_ || outer == nullptr) return iterator_->SaveState();
  try {
    const DelayedCancel delayed(*outer, *iterator_);
    return iterator_->SaveState();
  } catch (const Error& e) {
    if (e.code() != Code::kCancelled) throw;
    return std::nullopt;
  }
}

std::optional<std::string> IteratorResource::Save() {
  const std::lock_guard lock(mutex_);
  if (pending_) return pending_;
  if (!iterator_) return std::nullopt;
  const bool ahead = skip_ > 0 || (!awaited_.empty() && !awaited_.front().end);
  if (!ahead) {
    if (auto state = SaveIterator()) {
      if (saved_) {
        saved_ = state;
        given_ = 0;
      }
      return state;
    }
  }
  return EncodePosition({*saved_, given_});
}

void IteratorResource::Restore(std::string state, bool or_begin_anew) {
  const std::lock_guard lock(mutex_);
  or_begin_anew_ = or_begin_anew;
  pending_ = std::move(state);
  if (dataset_.valid()) Open(dataset_);
}

}  // namespace sextant
