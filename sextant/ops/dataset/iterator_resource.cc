#include "sextant/ops/dataset/iterator_resource.h"

#include <utility>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"

namespace sextant {

void IteratorResource::SetDefault(const data::Dataset& dataset) {
  const std::lock_guard lock(mutex_);
  if (!default_.valid()) default_ = dataset;
}

void IteratorResource::Begin(const data::Dataset& dataset) {
  const std::lock_guard lock(mutex_);
  Open(dataset);
}

void IteratorResource::Open(const data::Dataset& dataset) {
  dataset_ = dataset;
  iterator_ = dataset_.MakeIterator();
  ended_ = false;
  const auto state = std::exchange(pending_, std::nullopt);
  if (!state) return;
  try {
    iterator_->RestoreState(*state);
  } catch (const Error& e) {
    if (e.code() != Code::kFailedPrecondition || !or_begin_anew_) throw;
    // E.g. other files, or another size of batches, in a training that goes on.
    LogWarning("The input is not the one that was saved, so it begins anew: {}", e.message());
    iterator_ = dataset_.MakeIterator();
  }
}

bool IteratorResource::Next(std::span<Tensor> components, std::span<const DType> types,
                            std::span<const PartialShape> shapes, CancellationToken& cancellation) {
  const std::lock_guard lock(mutex_);
  if (!iterator_) {
    if (!default_.valid()) {
      throw FailedPrecondition(
          "the iterator has not been initialized: run its initializer, or feed the outputs of "
          "IteratorGetNext");
    }
    Open(default_);
  }
  const auto registration = cancellation.OnCancel([this] { iterator_->Cancel(); });
  if (ended_ || !iterator_->Next(&element_)) {
    ended_ = true;
    return false;
  }
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

std::optional<std::string> IteratorResource::Save() {
  const std::lock_guard lock(mutex_);
  if (pending_) return pending_;
  if (!iterator_) return std::nullopt;
  return iterator_->SaveState();
}

void IteratorResource::Restore(std::string state, bool or_begin_anew) {
  const std::lock_guard lock(mutex_);
  or_begin_anew_ = or_begin_anew;
  pending_ = std::move(state);
  if (dataset_.valid()) Open(dataset_);
}

}  // namespace sextant
