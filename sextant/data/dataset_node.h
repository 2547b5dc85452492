// DatasetNode and NodeIterator: what a source or a transformation implements. A Dataset is a tree
// of nodes, an Iterator a tree of node iterators.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/data/element.h"

namespace sextant {
class CancellationToken;
}

namespace sextant::data {

class RowBatch;
struct RowFormat;
class StateReader;
class StateWriter;

// What a node iterator is made with; passed on to those of the inputs.
struct Walk {
  // Counts the walks of one consumer over the node (Repeat): what Shuffle with reshuffle and the
  // random streams of Map mix into their seeds.
  int64_t iteration = 0;
  // In place of seeds not given; differs from consumer to consumer and is restored with its state.
  uint64_t entropy = 0;
  // Cancelled by Iterator::Cancel. Iterators that wait, or read slowly, heed it.
  std::shared_ptr<CancellationToken> cancellation;

  // For the number-th walk over an input inside this one.
  Walk Nested(int64_t number) const;
  // For the number-th of several inputs walked side by side.
  Walk Branch(int64_t number) const;
};

// An element on its way: what the serial part of its making left for Finish, which any thread may
// call. Reused for further elements, with the buffers it has, so that a steady state allocates
// nothing.
struct Task {
  struct Position {
    int64_t index;      // of the element in the walk
    int64_t iteration;  // of the walk
  };
  Element element;
  std::vector<Position> positions;  // one per Map passed, the innermost first
  size_t finished = 0;              // how many of the positions Finish has used
  std::string origin;               // for DatasetNode::Place; empty where not known
};

// One walk over a node. Used by one thread at a time. The node outlives it (Iterator sees to that).
class NodeIterator {
 public:
  virtual ~NodeIterator() = default;

  // As Iterator::Next. The tensors it gives are the receiver's alone, and it may use the buffers of
  // *element again where Tensor::unique says so.
  virtual bool Next(Element* element) = 0;

  // Writes where the walk stands / continues such a walk. Restore is called before Next and throws
  // DATA_LOSS when the state does not fit.
  virtual void Save(StateWriter& writer) = 0;
  virtual void Restore(StateReader& reader) = 0;

  // Appends elements to the batch until it is full or the walk is at its end. A source that can
  // write rows without making elements overrides this. When it throws, the rows appended so far
  // stay and the next call goes on behind the failed element.
  virtual void NextRows(RowBatch& batch);

  // Of DatasetNode::MakeTasks.
  virtual bool NextTask(Task* task);
};

// Immutable and thread-safe.
class DatasetNode {
 public:
  virtual ~DatasetNode() = default;

  virtual std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const = 0;
  // For Dataset::Fingerprint: "Shuffle(1000,seed=1)" behind its input's, with a "." between.
  virtual std::string Describe() const = 0;
  // The fields, their types and what is known of their shapes. By default those of the first
  // element; throws FAILED_PRECONDITION when there is none.
  virtual ElementSpec Spec() const;
  // Whether threads make its elements ahead of the consumer.
  virtual bool prefetches() const { return false; }

  // A node may leave part of the work on each element to threads (Map with parallel calls,
  // parsing): the iterator of MakeTasks makes tasks one after another, Finish makes elements of
  // them. A node that passes its input's elements on unchanged passes these on too. By default
  // nothing is left to finish.
  //
  // How many may be finished at once; kAutotune: any number. 1: nothing is to be gained.
  virtual int parallel() const { return 1; }
  virtual std::unique_ptr<NodeIterator> MakeTasks(const Walk& walk) const {
    return MakeIterator(walk);
  }
  // Makes *element of the task, and may use the buffers that it has; what the task holds afterwards
  // is of use only as buffers. Thread-safe; independent of iterators that made the task.
  virtual void Finish(Task& task, Element* element) const { std::swap(*element, task.element); }
  // Finishes tasks[i] into row first + i of the batch, for each i. An element that fails, or does
  // not fit the batch, goes to batch.Reject. Parsers override this to write rows without elements.
  virtual void FinishRows(std::span<Task> tasks, RowBatch& batch, int64_t first) const;

  // What is known of rows that NextRows of MakeIterator gives, when all elements are alike: a
  // Shuffle then keeps columns of values, not elements. Null: nothing.
  virtual const RowFormat* Rows() const { return nullptr; }
  // The same of MakeTasks, where a task is nothing but an element: FinishRows is then given rows.
  virtual const RowFormat* TaskRows() const { return nullptr; }
  // Finishes all rows of `inputs` into those of the batch from `first` on.
  // REQUIRES: TaskRows are not null.
  virtual void FinishRows(RowBatch& inputs, RowBatch& batch, int64_t first) const;

  // Whether MakeIterator gives a SeekableIterator: of sources whose elements can be made again from
  // a position smaller than they are (an offset in a file). Shuffle then saves positions, not
  // elements.
  virtual bool Seekable() const { return false; }
  // The same of MakeTasks: ElementAt then gives what is left to be finished.
  virtual bool SeekableTasks() const { return Seekable(); }
  // "train.tfrecords, record at offset 1234: " for messages about what came from a source's
  // position; empty where not known.
  virtual std::string Place(std::string_view position) const {
    (void)position;
    return "";
  }
};

class SeekableIterator : public NodeIterator {
 public:
  // Of the element returned last. Any iterator of the node understands it.
  virtual std::string Position() const = 0;
  // Does not move the walk.
  virtual Element ElementAt(std::string_view position) = 0;
};

}  // namespace sextant::data
