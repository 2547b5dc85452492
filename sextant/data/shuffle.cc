#include <optional>
#include <vector>

#include "sextant/base/fingerprint.h"
#include "sextant/data/dataset.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/row_shuffle.h"
#include "sextant/data/shuffle_draws.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

// Keeps a buffer of elements, gives one of them at random and puts the next of the input in its
// place. Of tasks it keeps what is left to be finished, mostly smaller than what is made of it.
class ShuffleIterator : public NodeIterator {
 public:
  ShuffleIterator(std::unique_ptr<NodeIterator> input, bool tasks, bool seekable, int64_t size,
                  uint64_t seed)
      : input_(std::move(input)), tasks_(tasks), seekable_(seekable), size_(size), draws_{seed} {}

  bool Next(Element* element) override {
    Slot* const slot = Drawn();
    if (slot == nullptr) return false;
    std::swap(*element, slot->task.element);
    Remove(slot);
    return true;
  }
  bool NextTask(Task* task) override {
    Slot* const slot = Drawn();
    if (slot == nullptr) return false;
    std::swap(*task, slot->task);
    Remove(slot);
    return true;
  }

  void Save(StateWriter& writer) override {
    writer.Int("draws", static_cast<int64_t>(draws_.count));
    writer.Int("input_ended", input_ended_);
    writer.Int("shuffle", static_cast<int64_t>(buffer_.size()));
    for (const Slot& slot : buffer_) {
      if (seekable_) {
        writer.Bytes("at", slot.position);
      } else {
        writer.Whole("element", slot.task.element);
      }
      if (tasks_) SavePositions(slot.task, writer);
    }
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    draws_.count = static_cast<uint64_t>(reader.Int("draws"));
    input_ended_ = reader.Int("input_ended") != 0;
    for (int64_t i = reader.Int("shuffle"); i > 0; --i) {
      Slot slot;
      if (seekable_) {
        slot.position = reader.Bytes("at");
      } else {
        slot.task.element = reader.Whole("element");
      }
      if (tasks_) RestorePositions(&slot.task, reader);
      buffer_.push_back(std::move(slot));
    }
    input_->Restore(reader);
    if (!seekable_) return;
    auto& source = static_cast<SeekableIterator&>(*input_);
    for (Slot& slot : buffer_) {
      slot.task.element = source.ElementAt(slot.position);
      slot.task.origin = slot.position;
    }
  }

 private:
  struct Slot {
    Task task;             // nothing is left to be finished unless tasks_
    std::string position;  // where the input is seekable
  };

  // One of the buffer, which is full; null at the end.
  Slot* Drawn() {
    while (!input_ended_ && buffer_.size() < static_cast<size_t>(size_)) {
      if (!Read(&spare_)) break;
      buffer_.push_back(std::move(spare_));
      spare_ = {};
    }
    return buffer_.empty() ? nullptr : &buffer_[draws_.Below(buffer_.size())];
  }
  // What the caller gave for it goes on to the input as a buffer to be used again.
  void Remove(Slot* slot) {
    std::swap(spare_.task, slot->task);
    std::swap(*slot, buffer_.back());
    buffer_.pop_back();
  }

  bool Read(Slot* slot) {
    if (!input_->NextTask(&slot->task)) {
      input_ended_ = true;
      return false;
    }
    if (seekable_) slot->position = static_cast<SeekableIterator&>(*input_).Position();
    return true;
  }

  static void SavePositions(const Task& task, StateWriter& writer) {
    writer.Int("positions", static_cast<int64_t>(task.positions.size()));
    for (const Task::Position& position : task.positions) {
      writer.Int("index", position.index);
      writer.Int("iteration", position.iteration);
    }
  }
  static void RestorePositions(Task* task, StateReader& reader) {
    for (int64_t i = reader.Int("positions"); i > 0; --i) {
      const int64_t index = reader.Int("index");
      task->positions.push_back({index, reader.Int("iteration")});
    }
  }

  const std::unique_ptr<NodeIterator> input_;
  const bool tasks_;
  const bool seekable_;
  const int64_t size_;
  ShuffleDraws draws_;
  bool input_ended_ = false;
  std::vector<Slot> buffer_;
  Slot spare_;
};

class ShuffleNode : public UnaryNode {
 public:
  ShuffleNode(std::shared_ptr<const DatasetNode> input, int64_t size, const ShuffleOptions& options)
      : UnaryNode(std::move(input)), size_(size), options_(options) {
    if (size < 1)
      throw InvalidArgument("Shuffle needs a buffer of at least 1 element, not {}", size);
  }

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override {
    return Shuffled(input_->MakeIterator(walk), false, walk);
  }
  // What is left to be finished depends on the element's place in the walk, not on when it is done.
  int parallel() const override { return input_->parallel(); }
  std::unique_ptr<NodeIterator> MakeTasks(const Walk& walk) const override {
    return Shuffled(input_->MakeTasks(walk), true, walk);
  }
  void Finish(Task& task, Element* element) const override { input_->Finish(task, element); }
  void FinishRows(std::span<Task> tasks, RowBatch& batch, int64_t first) const override {
    input_->FinishRows(tasks, batch, first);
  }
  const RowFormat* Rows() const override { return input_->Rows(); }
  const RowFormat* TaskRows() const override { return input_->TaskRows(); }
  void FinishRows(RowBatch& inputs, RowBatch& batch, int64_t first) const override {
    input_->FinishRows(inputs, batch, first);
  }
  std::string Describe() const override {
    return fmt::format("{}.Shuffle({},seed={},reshuffle={})", input_->Describe(), size_,
                       options_.seed ? std::to_string(*options_.seed) : "none", options_.reshuffle);
  }

 private:
  std::unique_ptr<NodeIterator> Shuffled(std::unique_ptr<NodeIterator> input, bool tasks,
                                         const Walk& walk) const {
    uint64_t seed = options_.seed ? static_cast<uint64_t>(*options_.seed) : walk.entropy;
    if (options_.reshuffle) seed = FingerprintCat64(seed, static_cast<uint64_t>(walk.iteration));
    const bool seekable = tasks ? input_->SeekableTasks() : input_->Seekable();
    // Tasks of which nothing is left to be finished are elements.
    const RowFormat* const format =
        tasks && input_->parallel() != 1 ? input_->TaskRows() : input_->Rows();
    if (format != nullptr && size_ <= RowShuffle::kMaxSize) {
      return std::make_unique<RowShuffle>(std::move(input), *format, tasks, seekable, size_, seed);
    }
    return std::make_unique<ShuffleIterator>(std::move(input), tasks, seekable, size_, seed);
  }

  const int64_t size_;
  const ShuffleOptions options_;
};

}  // namespace

Dataset Dataset::Shuffle(int64_t buffer, const ShuffleOptions& options) const {
  return Dataset(std::make_shared<ShuffleNode>(node_, buffer, options));
}

}  // namespace sextant::data
