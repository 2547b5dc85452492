#include "sextant/ops/dataset/iterator_resource.h"

#include <utility>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"

namespace sextant {

void IteratorResource::SetDefault(std::shared_ptr<const ElementSource> source) {
  const std::lock_guard lock(mutex_);
  if (!default_) default_ = std::move(source);
}

void IteratorResource::Begin(std::shared_ptr<const ElementSource> source) {
  const std::lock_guard lock(mutex_);
  Open(std::move(source));
}

void IteratorResource::Open(std::shared_ptr<const ElementSource> source) {
  source_ = std::move(source);
  stream_ = source_->Open();
  ended_ = false;
  const auto state = std::exchange(pending_, std::nullopt);
  if (!state) return;
  try {
    stream_->Restore(*state);
  } catch (const Error& e) {
    if (e.code() != Code::kFailedPrecondition || !or_begin_anew_) throw;
    // E.g. other files, or another size of batches, in a training that goes on.
    LogWarning("The input is not the one that was saved, so it begins anew: {}", e.message());
    stream_ = source_->Open();
  }
}

bool IteratorResource::Next(std::span<Tensor> components, std::span<const DType> types,
                            std::span<const PartialShape> shapes, CancellationToken& cancellation) {
  const std::lock_guard lock(mutex_);
  if (!stream_) {
    if (!default_) {
      throw FailedPrecondition(
          "the iterator has not been initialized: run its initializer, or feed the outputs of "
          "IteratorGetNext");
    }
    Open(default_);
  }
  if (ended_ || !stream_->Next(components, cancellation)) {
    ended_ = true;
    return false;
  }
  for (size_t i = 0; i < components.size(); ++i) {
    const Tensor& component = components[i];
    if (component.dtype() != types[i] || !shapes[i].CompatibleWith(component.shape())) {
      throw InvalidArgument("component {} of an element is {}, not {}{} as the iterator says", i,
                            component.Describe(), DTypeName(types[i]), shapes[i].ToString());
    }
  }
  return true;
}

std::optional<std::string> IteratorResource::Save() {
  const std::lock_guard lock(mutex_);
  if (pending_) return pending_;
  if (!stream_) return std::nullopt;
  return stream_->Save();
}

void IteratorResource::Restore(std::string state, bool or_begin_anew) {
  const std::lock_guard lock(mutex_);
  or_begin_anew_ = or_begin_anew;
  pending_ = std::move(state);
  if (source_) Open(source_);
}

}  // namespace sextant
