#include "sextant/data/dataset.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

class RepeatNode : public UnaryNode {
 public:
  RepeatNode(std::shared_ptr<const DatasetNode> input, int64_t count)
      : UnaryNode(std::move(input)), count_(count < 0 ? -1 : count) {}

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override;
  std::unique_ptr<NodeIterator> MakeTasks(const Walk& walk) const override;
  std::string Describe() const override {
    return fmt::format("{}.Repeat({})", input_->Describe(), count_);
  }
  int parallel() const override { return input_->parallel(); }
  void Finish(Task& task, Element* element) const override { input_->Finish(task, element); }
  void FinishRows(std::span<Task> tasks, RowBatch& batch, int64_t first) const override {
    input_->FinishRows(tasks, batch, first);
  }
  const RowFormat* Rows() const override { return input_->Rows(); }
  const RowFormat* TaskRows() const override { return input_->TaskRows(); }
  void FinishRows(RowBatch& inputs, RowBatch& batch, int64_t first) const override {
    input_->FinishRows(inputs, batch, first);
  }
  bool Seekable() const override { return input_->Seekable(); }
  bool SeekableTasks() const override { return input_->SeekableTasks(); }

  std::unique_ptr<NodeIterator> Input(const Walk& walk, bool tasks) const {
    return tasks ? input_->MakeTasks(walk) : input_->MakeIterator(walk);
  }
  int64_t count() const { return count_; }

 private:
  const int64_t count_;  // -1: for ever
};

class RepeatIterator : public PassingIterator {
 public:
  RepeatIterator(const RepeatNode& node, const Walk& walk, bool tasks)
      : PassingIterator(node.Input(walk.Nested(0), tasks)),
        node_(node),
        walk_(walk),
        tasks_(tasks) {}

  bool Next(Element* element) override {
    return Advance([&] { return input_->Next(element); });
  }
  bool NextTask(Task* task) override {
    return Advance([&] { return input_->NextTask(task); });
  }
  void NextRows(RowBatch& batch) override {
    Advance([&] {
      const int64_t before = batch.rows();
      input_->NextRows(batch);
      any_ |= batch.rows() > before;
      return batch.full();
    });
  }
  void Save(StateWriter& writer) override {
    writer.Int("repeat", number_);
    writer.Int("any", any_);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    number_ = reader.Int("repeat");
    any_ = reader.Int("any") != 0;
    input_ = node_.Input(walk_.Nested(number_), tasks_);
    input_->Restore(reader);
  }

 private:
  // Calls `next` until it is satisfied, with a new walk over the input each time that one ends. A
  // walk without an element is the last: there would be no end of them.
  template <typename NextFn>
  bool Advance(NextFn next) {
    if (node_.count() == 0) return false;
    while (!next()) {
      if (!any_ || number_ + 1 == node_.count()) return false;
      any_ = false;
      input_ = node_.Input(walk_.Nested(++number_), tasks_);
    }
    any_ = true;
    return true;
  }

  const RepeatNode& node_;
  const Walk walk_;
  const bool tasks_;
  int64_t number_ = 0;
  bool any_ = false;  // whether this walk gave an element
};

std::unique_ptr<NodeIterator> RepeatNode::MakeIterator(const Walk& walk) const {
  return std::make_unique<RepeatIterator>(*this, walk, false);
}
std::unique_ptr<NodeIterator> RepeatNode::MakeTasks(const Walk& walk) const {
  return std::make_unique<RepeatIterator>(*this, walk, true);
}

}  // namespace

Dataset Dataset::Repeat(int64_t count) const {
  return Dataset(std::make_shared<RepeatNode>(node_, count));
}

}  // namespace sextant::data
