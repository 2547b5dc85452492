// IteratorResource: the iterator of a session behind an IteratorV2 node. Thread-safe; callers take
// turns.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/data/dataset.h"
#include "sextant/tensor/handle.h"
#include "sextant/tensor/shape.h"

namespace sextant {

class IteratorResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "Iterator";
  static constexpr const char* kContainer = "localhost";  // where an IteratorV2 keeps it

  // What the first iteration is over if no MakeIterator says otherwise. Later calls change nothing.
  void SetDefault(const data::Dataset& dataset);
  // Starts a new iteration over the dataset.
  void Begin(const data::Dataset& dataset);

  // The next element, or false at the end. Throws FAILED_PRECONDITION when no iteration was begun,
  // INVALID_ARGUMENT when an element is not of these types and shapes. When the token is cancelled
  // the iteration has ended: this call and all later ones throw.
  bool Next(std::span<Tensor> components, std::span<const DType> types,
            std::span<const PartialShape> shapes, CancellationToken& cancellation);

  // The position of the iteration; nothing when none was begun.
  std::optional<std::string> Save();
  // The iteration continues at the position: at once, or when it is begun. The state of another
  // dataset is a FAILED_PRECONDITION, or, with or_begin_anew, left aside with a warning.
  void Restore(std::string state, bool or_begin_anew = false);

  std::string DebugString() const override { return "iterator"; }

 private:
  void Open(const data::Dataset& dataset);

  std::mutex mutex_;
  data::Dataset default_, dataset_;  // dataset_: of the iterator
  std::unique_ptr<data::Iterator> iterator_;
  data::Element element_;  // buffers that no step holds any more are used again
  bool ended_ = false;
  std::optional<std::string> pending_;  // state for the next iteration
  bool or_begin_anew_ = false;
};

}  // namespace sextant
