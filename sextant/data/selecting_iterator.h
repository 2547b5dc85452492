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

class SelectingIterator : public PassingIterator {
 public:
  bool Next(Element* element) final {
    return Select([&] { return input_->Next(element); }, *element);
  }
  bool NextTask(Task* task) final {
    return Select([&] { return input_->NextTask(task); }, task->element);
  }
  void Save(StateWriter& writer) final {
    writer.Int(name_, count_);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) final {
    count_ = reader.Int(name_);
    input_->Restore(reader);
  }

 protected:
  // The count is saved under the name.
  SelectingIterator(std::unique_ptr<NodeIterator> input, const char* name)
      : PassingIterator(std::move(input)), name_(name) {}

  // Calls `next`, which makes the next element of the input, or returns false at the input's end,
  // until the element is one to give: true; false when there is none.
  virtual bool Select(FunctionRef<bool()> next, const Element& element) = 0;

  int64_t count_ = 0;

 private:
  const char* const name_;
};

// Positions of the input are its own.
class SelectingNode : public UnaryNode {
 public:
  using UnaryNode::UnaryNode;
  bool Seekable() const override { return input_->Seekable(); }
  const RowFormat* Rows() const override { return input_->Rows(); }
};

}  // namespace sextant::data
