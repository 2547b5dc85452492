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
#include "sextant/ops/dataset/element_source.h"
#include "sextant/tensor/handle.h"
#include "sextant/tensor/shape.h"

namespace sextant {

class IteratorResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "Iterator";
  static constexpr const char* kContainer = "localhost";  // where an IteratorV2 keeps it

  // Where the first walk begins if no MakeIterator says otherwise. Later calls change nothing.
  void SetDefault(std::shared_ptr<const ElementSource> source);
  // A new walk over the source.
  void Begin(std::shared_ptr<const ElementSource> source);

  // The next element, or false at the end. Throws FAILED_PRECONDITION when no walk was begun,
  // INVALID_ARGUMENT when an element is not of these types and shapes.
  bool Next(std::span<Tensor> components, std::span<const DType> types,
            std::span<const PartialShape> shapes, CancellationToken& cancellation);

  // Where the walk stands; nothing when none was begun.
  std::optional<std::string> Save();
  // The walk goes on where it stood: at once, or when it is begun. The state of another source is
  // a FAILED_PRECONDITION, or, with or_begin_anew, left aside with a warning.
  void Restore(std::string state, bool or_begin_anew = false);

  std::string DebugString() const override { return "iterator"; }

 private:
  void Open(std::shared_ptr<const ElementSource> source);

  std::mutex mutex_;
  std::shared_ptr<const ElementSource> default_, source_;  // source_: of the stream
  std::unique_ptr<ElementStream> stream_;
  bool ended_ = false;
  std::optional<std::string> pending_;  // state for the next walk
  bool or_begin_anew_ = false;
};

}  // namespace sextant
