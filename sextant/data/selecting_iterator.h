// SelectingIterator: gives some elements of its input unchanged, by a count that it saves: Take,
// Skip, Shard, Filter, IgnoreErrors.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sextant/base/function_ref.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {

class SelectingIterator : public PassThroughIterator {
 public:
  bool Next(Element* element) final {
    return Select([&] { return input_->Next(element); }, *element);
  }
  bool NextPending(PendingElement* pending) final {
    return Select([&] { return input_->NextPending(pending); }, pending->element);
  }
  void Save(StateWriter& writer) final {
    writer.PutInt(name_, count_);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) final {
    count_ = reader.GetInt(name_);
    input_->Restore(reader);
  }

 protected:
  // The count is saved under the name.
  SelectingIterator(std::unique_ptr<NodeIterator> input, const char* name)
      : PassThroughIterator(std::move(input)), name_(name) {}

  // Calls `next`, which makes the next element of the input, or returns false at the input's end,
  // until the element is one to give: true; false when there is none.
  virtual bool Select(FunctionRef<bool()> next, const Element& element) = 0;

  int64_t count_ = 0;

 private:
  const char* const name_;
};

// It counts elements that did not fail, or looks at them, so they are finished before.
class SelectingNode : public PassThroughNode {
 public:
  explicit SelectingNode(std::shared_ptr<const DatasetNode> input)
      : PassThroughNode(std::move(input), Deferral::kFinishFirst) {}
};

}  // namespace sextant::data
