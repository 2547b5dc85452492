// InterleaveIterator: elements of several datasets in turn, read one after another or ahead by
// threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "sextant/data/dataset.h"
#include "sextant/data/dataset_node.h"
#include "sextant/data/group_size.h"
#include "sextant/data/result.h"
#include "sextant/data/workers.h"

namespace sextant::data {

// Slots are visited round robin, `block` elements from each. A dataset at its end leaves its slot
// to the next one.
class InterleaveIterator : public NodeIterator {
 public:
  using DatasetFn = std::function<Dataset(const Element&)>;

  InterleaveIterator(std::unique_ptr<NodeIterator> input, const DatasetFn& fn,
                     const IterationContext& context, const InterleaveOptions& options);

  bool Next(Element* element) override;
  void Save(StateWriter& writer) override;
  void Restore(StateReader& reader) override;

 private:
  // Moving a result from list to list allocates nothing.
  using Results = std::list<Result>;
  // One of the datasets, being iterated over.
  struct Part {
    Element from;  // the argument of the function that returned the dataset
    int64_t number = 0;
    std::shared_ptr<const DatasetNode> node;
    std::unique_ptr<NodeIterator> iterator;  // null when it could not be made
    Results taken;                           // the consumer's
    // Under workers_->mutex(), where there are threads.
    Results ready;
    bool reading = false;
    bool ended = false;
  };
  enum class Got { kElement, kEnd, kNothingYet };

  Got Take(Part& part, Element* element);
  Got AwaitReady(Part& part);
  // Moves to a part that has something ready; waits for one.
  void FindReady();
  // Puts the next dataset, if there is one, in the slot.
  void Open(size_t slot);
  std::unique_ptr<Part> MakePart(Element from, int64_t number) const;
  void Assign(size_t slot, std::unique_ptr<Part> part);
  void Advance();
  bool Step(Workers::Lock& lock);

  const std::unique_ptr<NodeIterator> input_;
  const DatasetFn& fn_;
  const IterationContext context_;
  const InterleaveOptions options_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::atomic<size_t> slot_ = 0;  // written by the consumer; threads prefer it
  int64_t used_ = 0;              // elements of the block that were given
  int64_t opened_ = 0;
  bool started_ = false;
  bool input_ended_ = false;
  GroupSize group_size_;
  Results returned_;                // by the consumer, to be filled again
  Results spare_;                   // the same, under workers_->mutex()
  std::optional<Workers> workers_;  // last: its threads use the others
};

}  // namespace sextant::data
