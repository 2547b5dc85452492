// Iterator: one iteration over a Dataset, as its user sees it. Its position can be saved after any
// element and restored in another process, which then gets exactly the elements that would have
// followed.
//
//   auto it = dataset.MakeIterator();
//   for (Element e; it->Next(&e);) ...
//   std::string bytes = it->SaveState();       // another process: it->RestoreState(bytes)
//
// Used by one thread at a time; the pipeline may have threads of its own. Cancel may be called from
// any thread at any time. Destroying an iterator ends its threads and never waits for a consumer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sextant/base/export.h"
#include "sextant/data/element.h"

#pragma GCC visibility push(default)

namespace sextant {
class CancellationToken;
}

namespace sextant::data {

class DatasetNode;
class NodeIterator;

class SEXTANT_API Iterator {
 public:
  // Called by Dataset::MakeIterator.
  explicit Iterator(std::shared_ptr<const DatasetNode> node);
  ~Iterator();
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // Puts the next element into *element, or returns false at the end, also in all later calls. The
  // tensors belong to the caller, who may write to them. Buffers of *element that nobody else holds
  // are reused: a loop over one Element allocates nothing.
  //
  // Throws what the functions and files of the pipeline throw: DATA_LOSS and the like name the file
  // and the offset or line; std::bad_alloc comes as RESOURCE_EXHAUSTED, other exceptions than Error
  // as INTERNAL with their text. A failed element is skipped: the next call gives the one behind
  // it. Throws CANCELLED after Cancel.
  bool Next(Element* element);

  // The position of the iteration, with a checksum and a fingerprint of the pipeline's structure.
  // Work begun by threads is finished first and its results are part of the state. Throws CANCELLED
  // after Cancel: what the threads were at may be lost.
  std::string SaveState();
  // Continues an iteration saved by an iterator of an equal pipeline. REQUIRES: called before Next.
  // Throws FAILED_PRECONDITION for the state of another pipeline, DATA_LOSS for a damaged one.
  void RestoreState(std::string_view bytes);

  // Makes a Next or SaveState that waits, and every later one, throw CANCELLED; also one that waits
  // for a pipe.
  void Cancel();

 private:
  NodeIterator& Root();

  const std::shared_ptr<const DatasetNode> node_;
  const std::shared_ptr<CancellationToken> cancellation_;
  uint64_t entropy_;                    // of seeds not given; part of the state
  std::unique_ptr<NodeIterator> root_;  // made by the first Next or RestoreState
};

}  // namespace sextant::data

#pragma GCC visibility pop
