// ReadAhead: an iterator whose elements threads make ahead of its consumer: ParallelMap, Prefetch.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "sextant/data/dataset_node.h"
#include "sextant/data/group_size.h"
#include "sextant/data/result.h"
#include "sextant/data/workers.h"

namespace sextant::data {

struct ReadAheadOptions {
  int threads = 1;      // or kAutotune, see workers.h
  bool ordered = true;  // false: groups of elements come in the order in which they are finished
  int64_t ahead = 0;    // elements made and not yet given; kAutotune; 0: enough for all threads
};

// The threads take turns at reading a group of pending elements from the input; each then finishes
// its group while others read or finish other groups.
class ReadAhead : public NodeIterator {
 public:
  // Finishes the pending elements of `input` by work->Finish; without work they are finished.
  ReadAhead(std::unique_ptr<NodeIterator> input, const DeferredWork* work,
            const IterationContext& context, const ReadAheadOptions& options);

  bool Next(Element* element) override;
  // A finished element, with its origin.
  bool NextPending(PendingElement* pending) override;
  void Save(StateWriter& writer) override;
  void Restore(StateReader& reader) override;

 private:
  struct Group {
    std::vector<PendingElement> pending;
    std::vector<Element> elements;
    std::vector<std::exception_ptr> failures;  // null where there is none
    int64_t count = 0;
    int64_t given = 0;
    bool done = false;
  };
  using GroupPtr = std::unique_ptr<Group>;

  bool Step(Workers::Lock& lock);
  // A group with room for `count` elements.
  GroupPtr NewGroup(int64_t count);
  // Fills the group; returns whether the input is at its end. What an element throws is kept in its
  // place.
  bool Read(Group& group, int64_t count) noexcept;
  void Finish(Group& group) noexcept;
  // Waits for the next element, counts it as given and throws if it failed; false at the end.
  bool Await();
  int64_t Room() const;
  // The group to give from next, if it is done.
  std::deque<GroupPtr>::iterator FindDone();

  const std::unique_ptr<NodeIterator> input_;  // used by the thread that reads, one at a time
  const DeferredWork* const work_;
  const ReadAheadOptions options_;
  GroupPtr current_;  // the consumer's, without the lock
  // The rest under workers_.mutex().
  std::deque<GroupPtr> groups_;  // in the order of reading
  std::vector<GroupPtr> spare_;
  GroupSize group_size_;
  int64_t limit_;      // of elements made ahead
  int64_t ahead_ = 0;  // in groups_
  bool reading_ = false;
  bool ended_ = false;
  Workers workers_;  // last: its threads use the others
};

}  // namespace sextant::data
