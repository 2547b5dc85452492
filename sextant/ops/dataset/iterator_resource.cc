#include "sextant/ops/dataset/iterator_resource.h"

#include <utility>

#include "sextant/base/error.h"

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
  if (const auto state = std::exchange(pending_, std::nullopt)) stream_->Restore(*state);
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

void IteratorResource::Restore(std::string state) {
  const std::lock_guard lock(mutex_);
  pending_ = std::move(state);
  if (source_) Open(source_);
}

}  // namespace sextant
