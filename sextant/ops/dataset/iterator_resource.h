// IteratorResource: the iterator of a session behind an IteratorV2 node. Thread-safe; callers take
// turns.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/base/error.h"
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
  // The same over the dataset of the iteration before, or the default.
  void BeginAnew();
  // No iteration has begun, as far as Next and Save can tell.
  void Rewind();

  // The next element, or false at the end. Throws FAILED_PRECONDITION when no iteration was begun,
  // INVALID_ARGUMENT when an element is not of these types and shapes. When the token is cancelled
  // the iteration has ended: this call and all later ones throw.
  bool Next(std::span<Tensor> components, std::span<const DType> types,
            std::span<const PartialShape> shapes, CancellationToken& cancellation);

  // Waits until this number of elements, or the end, is there for Next, which then does not wait.
  // So a step that would wait for its input can be cancelled before it begins. An element that
  // comes within a second of the cancellation is given all the same; else this throws the token's
  // error, and Save still gives the position behind the last Next. What else fails is thrown by
  // Next. False: there is no element, the iteration is at its end.
  bool Await(size_t elements, CancellationToken& cancellation);
  // What Next will throw for one of the elements that Await has taken; OK when it throws nothing.
  Status AwaitedError();

  // The position behind the last Next; nothing when no iteration was begun. When the
  // CancellationScope of the caller is cancelled it does not wait long for threads that read ahead:
  // the position is then a count of elements behind an earlier one, and Restore skips them.
  std::optional<std::string> Save();
  // The iteration continues at the position: at once, or when it is begun. The state of another
  // dataset is a FAILED_PRECONDITION, or, with or_begin_anew, left aside with a warning.
  void Restore(std::string state, bool or_begin_anew = false);

  std::string DebugString() const override { return "iterator"; }

 private:
  // What a call of Iterator::Next came to.
  struct Result {
    data::Element element;
    Status status;
    bool end = false;
  };

  void Open(const data::Dataset& dataset);
  void OpenDefault();
  // The next element of the iterator; false at the end.
  bool Take(data::Element* element);
  void Skip();
  std::optional<std::string> SaveIterator();

  std::mutex mutex_;
  data::Dataset default_, dataset_;  // dataset_: of the iterator
  std::unique_ptr<data::Iterator> iterator_;
  data::Element element_;  // buffers that no step holds any more are used again
  bool ended_ = false;
  std::optional<std::string> pending_;  // state for the next iteration
  bool or_begin_anew_ = false;
  std::deque<Result> awaited_;  // taken from the iterator, not yet given
  // The position behind the last Next is that of saved_ and given_ elements more. Kept after
  // the first Await.
  std::optional<std::string> saved_;
  int64_t given_ = 0;
  int64_t skip_ = 0;  // of a restored iteration: elements that are still to be passed over
};

}  // namespace sextant
