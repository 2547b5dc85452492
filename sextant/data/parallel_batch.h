// ParallelBatch: the iterator of a Batch whose input has deferred work. Threads do that work and
// write the rows of the batch in place. The batches are those of a serial Batch, bit for bit.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "sextant/data/dataset_node.h"
#include "sextant/data/group_size.h"
#include "sextant/data/result.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/workers.h"

namespace sextant::data {

class ParallelBatch : public NodeIterator {
 public:
  // Batches of `size` elements of `work`.
  ParallelBatch(const DeferredWork& work, const IterationContext& context, int64_t size,
                bool drop_remainder);

  bool Next(Element* element) override;
  void Save(StateWriter& writer) override;
  void Restore(StateReader& reader) override;

 private:
  // A batch being filled.
  struct Filling {
    RowBatch rows;
    int64_t read = 0;      // rows that were given to a thread
    int64_t finished = 0;  // rows that are done
    bool closed = false;   // no more rows: full, or at the end
    bool done() const { return closed && finished == read; }
  };
  using FillingPtr = std::unique_ptr<Filling>;
  // Consecutive rows of a batch, not finished yet: as columns where their format is known.
  struct Group {
    std::vector<PendingElement> pending;
    RowBatch rows;
  };

  bool Step(Workers::Lock& lock);
  bool Read(Filling& filling, int64_t first, int64_t wanted, Group& group, int64_t* count,
            bool* failed) noexcept;
  // Finishes `count` rows of the group into those of the batch from `first` on.
  void Finish(Group& group, int64_t count, RowBatch& batch, int64_t first) noexcept;
  // The batch to read rows for: the last one if it is not closed, else a new one. Null when too
  // many are in flight.
  Filling* Open();
  FillingPtr NewFilling(Element recycled);
  // The next batch in order, waiting for it; null at the end. It stays the first of fillings_.
  Filling* AwaitBatch();
  // REQUIRES: the lock is held.
  void RemoveFirst();
  // Adds its rows to results_, or throws and has done nothing.
  void TakeApart(Filling& filling);
  // Takes all rows in flight apart and holds the threads. When it throws, it is to be called again.
  void TakeAllApart();
  // Fills a batch with results_, row by row. Returns false when they are used up.
  bool NextOfResults(Element* element);
  // Hands the batch begun with results_ to the threads.
  void Release();

  const DeferredWork& work_;
  const int64_t size_;
  const bool drop_remainder_;
  const RowFormat* const row_format_;          // null: pending elements are read one by one
  const std::unique_ptr<NodeIterator> input_;  // used by the thread that reads, one at a time
  // Rows in the order of elements, taken apart because of a failed one or for saving; the
  // consumer's.
  std::list<Result> results_;
  FillingPtr partial_;  // the rows made of results_ so far
  // The rest under workers_.mutex().
  std::deque<FillingPtr> fillings_;  // in order
  std::vector<FillingPtr> spare_;
  std::vector<std::unique_ptr<Group>> spare_groups_;
  GroupSize group_size_;
  bool reading_ = false;
  bool ended_ = false;
  bool held_ = false;  // no thread reads: results_ come first
  Workers workers_;    // last: its threads use the others
};

}  // namespace sextant::data
