// DatasetNode: what a source or a transformation implements. A Dataset is a tree of these.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sextant/data/element.h"
#include "sextant/data/iterator.h"

namespace sextant::data {

// Fills rows of a batch without an element per row: what sources and parsers offer to Batch.
class BatchIterator : public Iterator {
 public:
  // Up to "count" elements as one batch, or false at the end. Buffers of earlier batches that nobody
  // holds are used again.
  virtual bool NextBatch(int64_t count, Element* batch) = 0;
};

// Immutable and thread-safe.
class DatasetNode {
 public:
  virtual ~DatasetNode() = default;

  // "iteration" counts the walks of one consumer over this node (Repeat): what Shuffle with
  // reshuffle mixes into its seed.
  virtual std::unique_ptr<Iterator> MakeIterator(int64_t iteration) const = 0;
  // For Dataset::Fingerprint: "Shuffle(1000,seed=1)" and the inputs'.
  virtual std::string Describe() const = 0;
  // What is known without making an element.
  virtual std::optional<ElementSpec> Spec() const { return std::nullopt; }

  // Null unless elements can be made a batch at a time.
  virtual std::unique_ptr<BatchIterator> MakeBatchIterator(int64_t iteration) const {
    (void)iteration;
    return nullptr;
  }

  // Sources whose elements can be made again from a number that is smaller than they are (an offset
  // in a file): Shuffle then saves the numbers instead of its buffer. Position is that of the
  // element last returned by an iterator of this node.
  virtual bool Seekable() const { return false; }
};

// An iterator of a Seekable node.
class SeekableIterator : public Iterator {
 public:
  virtual std::string Position() const = 0;
  virtual Element ElementAt(std::string_view position) = 0;
};

}  // namespace sextant::data
