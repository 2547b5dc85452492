#include <algorithm>

#include "sextant/base/fingerprint.h"
#include "sextant/data/dataset.h"
#include "sextant/data/own_tensor.h"
#include "sextant/data/read_ahead.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/scratch_element.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

class MapNode : public UnaryNode {
 public:
  MapNode(std::shared_ptr<const DatasetNode> input, RandomMapFn fn, const MapOptions& options)
      : UnaryNode(std::move(input)), fn_(std::move(fn)), options_(options) {
    if (options.parallel < 1 && options.parallel != kAutotune) {
      throw InvalidArgument("Map cannot make {} calls at once", options.parallel);
    }
  }

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override;
  std::unique_ptr<NodeIterator> MakeTasks(const Walk& walk) const override;
  std::string Describe() const override {
    const char* name = options_.parallel == 1 ? "Map" : options_.ordered ? "ParallelMap" : "AnyMap";
    return fmt::format("{}.{}(seed={})", input_->Describe(), name, options_.seed);
  }
  // Of the first element, if not given. Where that is a batch, others may have fewer rows.
  ElementSpec Spec() const override {
    if (options_.spec) return *options_.spec;
    ElementSpec spec = DatasetNode::Spec();
    const ElementSpec input = input_->Spec();
    const auto rows_vary = [](const FieldSpec& field) {
      return field.shape.rank_known() && field.shape.rank() > 0 &&
             field.shape.dim(0) == PartialShape::kUnknown;
    };
    if (std::ranges::none_of(input, rows_vary)) return spec;
    for (FieldSpec& field : spec) {
      if (field.shape.rank() > 0) field.shape.set_dim(0, PartialShape::kUnknown);
    }
    return spec;
  }

  // Of several limits the smallest holds for all that is done at once.
  int parallel() const override {
    const int own = options_.parallel, inputs = input_->parallel();
    return own == 1 || inputs == 1 || inputs == kAutotune ? own
           : own == kAutotune                             ? inputs
                                                          : std::min(own, inputs);
  }
  bool SeekableTasks() const override { return options_.parallel != 1 && input_->SeekableTasks(); }
  void Finish(Task& task, Element* element) const override { FinishAt(task, element, nullptr, 0); }
  void FinishRows(std::span<Task> tasks, RowBatch& batch, int64_t first) const override {
    for (Task& task : tasks) {
      batch.Make(first, [&](Element* element) { FinishAt(task, element, &batch, first); });
      ++first;
    }
  }

  // *in stays, to be used again, unless the function takes it by value.
  void Apply(Element* in, Element* out, const Task::Position& position, std::string_view origin,
             RowBatch* batch = nullptr, int64_t row = 0) const {
    // A stream for each walk, in it 2^64 blocks for each element.
    Philox random(FingerprintCat64(static_cast<uint64_t>(options_.seed),
                                   static_cast<uint64_t>(position.iteration)),
                  {0, static_cast<uint64_t>(position.index)});
    MapContext context{random, position.index, out, batch, row};
    try {
      Element made = fn_(std::move(*in), context);
      if (in->size() == 0) std::swap(*in, *out);
      *out = std::move(made);
    } catch (...) {
      throw Error(CurrentStatus())
          .WithPrefix(fmt::format("{}Map of element {}: ", Place(origin), position.index));
    }
  }

 private:
  void FinishAt(Task& task, Element* element, RowBatch* batch, int64_t row) const {
    if (options_.parallel == 1) return DatasetNode::Finish(task, element);
    ScratchElement in;
    input_->Finish(task, in.get());
    Apply(in.get(), element, task.positions[task.finished++], task.origin, batch, row);
  }

  const RandomMapFn fn_;
  const MapOptions options_;
};

// Elements one after another, or tasks for threads, which have the positions of the input.
class MapIterator : public PassingIterator {
 public:
  MapIterator(const MapNode& node, std::unique_ptr<NodeIterator> input, int64_t iteration)
      : PassingIterator(std::move(input)), node_(node), iteration_(iteration) {}

  bool Next(Element* element) override {
    if (!NextInput(&in_)) return false;
    node_.Apply(&in_.element, element, {index_ - 1, iteration_}, in_.origin);
    return true;
  }
  bool NextTask(Task* task) override {
    if (!NodeIterator::NextTask(task)) return false;
    task->origin = in_.origin;
    return true;
  }
  void Save(StateWriter& writer) override {
    writer.Int("map", index_);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    index_ = reader.Int("map");
    input_->Restore(reader);
  }

 protected:
  bool NextInput(Task* task) {
    ++index_;  // one that the input fails to make has a number too
    if (input_->NextTask(task)) return true;
    --index_;
    return false;
  }

  const MapNode& node_;
  const int64_t iteration_;
  int64_t index_ = 0;

 private:
  Task in_;  // complete as the input gives it
};

class MapTasks : public MapIterator {
 public:
  using MapIterator::MapIterator;

  bool NextTask(Task* task) override {
    if (!NextInput(task)) return false;
    task->positions.push_back({index_ - 1, iteration_});
    return true;
  }
};

std::unique_ptr<NodeIterator> MapNode::MakeTasks(const Walk& walk) const {
  if (options_.parallel == 1) return MakeIterator(walk);
  return std::make_unique<MapTasks>(*this, input_->MakeTasks(walk), walk.iteration);
}

std::unique_ptr<NodeIterator> MapNode::MakeIterator(const Walk& walk) const {
  if (options_.parallel == 1) {
    return std::make_unique<MapIterator>(*this, input_->MakeIterator(walk), walk.iteration);
  }
  return std::make_unique<ReadAhead>(
      MakeTasks(walk), this, walk,
      ReadAheadOptions{.threads = parallel(), .ordered = options_.ordered});
}

}  // namespace

Tensor MapContext::NewField(std::string_view name, DType dtype, const Shape& shape) {
  Tensor tensor;
  if (batch != nullptr) tensor = batch->ViewOfRow(row, name, dtype, shape);
  if (tensor.valid()) return tensor;
  if (recycled != nullptr && recycled->Has(name)) tensor = std::move((*recycled)[name]);
  MakeOwn(&tensor, dtype, shape);
  return tensor;
}

Dataset Dataset::Map(RandomMapFn fn, const MapOptions& options) const {
  return Dataset(std::make_shared<MapNode>(node_, std::move(fn), options));
}

Dataset Dataset::Map(MapFn fn, const MapOptions& options) const {
  return Map(RandomMapFn([fn = std::move(fn)](Element&& element, MapContext&) {
               return fn(std::move(element));
             }),
             options);
}

}  // namespace sextant::data
