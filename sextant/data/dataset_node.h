// DatasetNode: what a source or a transformation implements. A Dataset is a tree of nodes.
//
// MakeIterator and Describe are required. What else a node can do are capabilities, each an object
// that is null where it is missing:
//
//   row_format()              all elements have the same types and shapes: columns of values, not
//                             elements, go into a batch or a shuffle buffer
//   deferred()                part of the work on each element can be done later, by any thread: a
//                             Batch or ReadAhead behind the node does it in parallel
//   NodeIterator::seekable()  elements can be made again from a position: Shuffle saves positions
//
// A transformation derives from UnaryNode or, if it gives elements of its input unchanged, from
// PassThroughNode (unary_node.h), which has all capabilities of its input.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sextant/data/element.h"
#include "sextant/data/node_iterator.h"

namespace sextant::data {

struct RowFormat;

// What can be iterated over: the elements of a node, or its pending elements.
class Iterable {
 public:
  virtual ~Iterable() = default;

  virtual std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const = 0;
  // Of the rows that NextRows of the iterators gives, when all elements are alike.
  virtual const RowFormat* row_format() const { return nullptr; }
};

// The work that a node leaves to threads (Map with parallel calls, parsing). Its iterators make
// pending elements one after another, serially; Finish makes elements of them. Thread-safe, and
// independent of the iterators that made a pending element.
class DeferredWork : public Iterable {
 public:
  // How many elements may be finished at once; kAutotune: any number.
  virtual int parallelism() const = 0;
  // Makes *element, and may use the buffers that it has; what `pending` holds afterwards is of use
  // only as buffers.
  virtual void Finish(PendingElement& pending, Element* element) const = 0;
  // Finishes pending[i] into row first + i of the batch, for each i. An element that fails, or does
  // not fit the batch, goes to batch.Reject. Parsers override this to write rows without elements.
  virtual void FinishRows(std::span<PendingElement> pending, RowBatch& batch, int64_t first) const;
  // Finishes all rows of `pending`, which are of row_format(), into those of the batch from `first`
  // on. REQUIRES: row_format() is not null.
  virtual void FinishRows(RowBatch& pending, RowBatch& batch, int64_t first) const;
};

// Immutable and thread-safe.
class DatasetNode : public Iterable {
 public:
  // For Dataset::Fingerprint: "Shuffle(1000,seed=1)" behind its input's, with a "." between.
  virtual std::string Describe() const = 0;
  // The fields, their types and what is known of their shapes. By default those of the first
  // element; throws FAILED_PRECONDITION when there is none.
  virtual ElementSpec Spec() const;

  virtual const DeferredWork* deferred() const { return nullptr; }
  // "train.tfrecords, record at offset 1234: " for messages about an element of this
  // PendingElement::origin; empty where not known.
  virtual std::string DescribeOrigin(std::string_view origin) const;
  // Whether threads make its elements ahead of the consumer.
  virtual bool prefetches() const { return false; }
};

}  // namespace sextant::data
