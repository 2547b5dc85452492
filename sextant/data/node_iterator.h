// NodeIterator: one iteration over a DatasetNode. The iterators of a pipeline form a tree, as its
// nodes do; each pulls elements from those of its inputs.
//
// Next, Save and Restore are required. The rest has defaults that are right for any iterator;
// overriding them makes a pipeline quicker or its saved state smaller.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/data/element.h"

namespace sextant {
class CancellationToken;
}

namespace sextant::data {

class BlockLeases;
class RowBatch;
class StateReader;
class StateWriter;

// What a node iterator is made with; passed on to those of the inputs.
struct IterationContext {
  // The epoch: counts the iterations of one consumer over the node (Repeat). Shuffle with reshuffle
  // and the random streams of Map mix it into their seeds.
  int64_t iteration = 0;
  // In place of seeds not given; differs from consumer to consumer and is restored with its state.
  uint64_t entropy = 0;
  // Cancelled by Iterator::Cancel. Iterators that wait, or read slowly, heed it.
  std::shared_ptr<CancellationToken> cancellation;
  // Sources that can be cut read the blocks that these give them (block_leases.h). Null: all.
  std::shared_ptr<BlockLeases> leases = {};
  // Of this process among those that read together; mixed into seeds, but for 0.
  int rank = 0;
  uint64_t branch = 0;       // which of several inputs side by side, the same in all processes
  bool more_follow = false;  // a Repeat will make another iteration behind this one

  // For the number-th iteration over an input inside this one.
  IterationContext Nested(int64_t number) const;
  // For the number-th of several inputs that are iterated over side by side.
  IterationContext Branch(int64_t number) const;
  // For an input that every process reads whole, because of `what`, which the log says.
  IterationContext Whole(const char* what) const;
  // The same without a line in the log: inside what is shared out already.
  IterationContext Inside() const;
  uint64_t WithRank(uint64_t seed) const;
};

// An element on which work is left to do: what its serial part, the iterator, hands to
// DeferredWork::Finish, which any thread may call. Reused for further elements, with the buffers it
// has, so that a steady state allocates nothing.
struct PendingElement {
  struct Position {
    int64_t index;      // of the element in the iteration
    int64_t iteration;  // IterationContext::iteration
  };
  Element element;
  std::vector<Position> positions;  // one per Map passed, the innermost first
  size_t finished = 0;              // how many of the positions Finish has used
  std::string origin;               // for DatasetNode::DescribeOrigin; empty where not known
};

// Of iterators whose elements can be made again from a position that is smaller than they are (an
// offset in a file). Shuffle then saves positions, not elements.
class Seekable {
 public:
  virtual ~Seekable() = default;
  // Of the element returned last. Any iterator of the node understands it.
  virtual std::string Position() const = 0;
  // Does not move the iteration.
  virtual Element ElementAt(std::string_view position) = 0;
};

// Used by one thread at a time. The node outlives it (Iterator sees to that).
class NodeIterator {
 public:
  virtual ~NodeIterator() = default;

  // As Iterator::Next. The tensors it gives are the receiver's alone, and it may use the buffers of
  // *element again where Tensor::unique says so.
  virtual bool Next(Element* element) = 0;
  // Writes the position of the iteration / continues at it. Restore is called before Next and
  // throws DATA_LOSS when the state does not fit.
  virtual void Save(StateWriter& writer) = 0;
  virtual void Restore(StateReader& reader) = 0;

  // Appends elements to the batch until it is full or the iteration is at its end. A source that
  // can write rows without making elements overrides this. When it throws, the rows appended so far
  // stay and the next call continues behind the failed element.
  virtual void NextRows(RowBatch& batch);
  // The same as Next, with the origin of the element if it is known. Iterators of a DeferredWork
  // give elements with work left to do, by this function alone.
  virtual bool NextPending(PendingElement* pending);
  // Null where elements cannot be made again. May be another object after each Next.
  virtual Seekable* seekable() { return nullptr; }
};

}  // namespace sextant::data
