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

class MapNode;

// Of the random streams.
int64_t StreamOf(const IterationContext& context) {
  return static_cast<int64_t>(context.WithRank(static_cast<uint64_t>(context.iteration)));
}

// Calls of the function that threads make.
class MapWork final : public DeferredWork {
 public:
  MapWork(const MapNode& node, const DatasetNode& input) : node_(node), input_(input) {}

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override;
  int parallelism() const override;
  void Finish(PendingElement& pending, Element* element) const override {
    FinishAt(pending, element, nullptr, 0);
  }
  void FinishRows(std::span<PendingElement> pending, RowBatch& batch,
                  int64_t first) const override {
    for (PendingElement& one : pending) {
      batch.Make(first, [&](Element* element) { FinishAt(one, element, &batch, first); });
      ++first;
    }
  }
  using DeferredWork::FinishRows;

 private:
  void FinishAt(PendingElement& pending, Element* element, RowBatch* batch, int64_t row) const;

  const MapNode& node_;
  const PendingInput input_;
};

class MapNode : public UnaryNode {
 public:
  MapNode(std::shared_ptr<const DatasetNode> input, RandomMapFn fn, const MapOptions& options)
      : UnaryNode(std::move(input)), fn_(std::move(fn)), options_(options), work_(*this, *input_) {
    if (options.parallel < 1 && options.parallel != kAutotune) {
      throw InvalidArgument("Map cannot make {} calls at once", options.parallel);
    }
  }

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override;
  const DeferredWork* deferred() const override {
    return options_.parallel == 1 ? nullptr : &work_;
  }
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

  // *in stays, to be used again, unless the function takes it by value.
  void Apply(Element* in, Element* out, const PendingElement::Position& position,
             std::string_view origin, RowBatch* batch = nullptr, int64_t row = 0) const {
    // A stream for each iteration, in it 2^64 blocks for each element.
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
          .WithPrefix(fmt::format("{}Map of element {}: ", DescribeOrigin(origin), position.index));
    }
  }
  int parallel() const { return options_.parallel; }

 private:
  const RandomMapFn fn_;
  const MapOptions options_;
  const MapWork work_;
};

// Numbers the elements of its input.
class MapInput {
 public:
  MapInput(std::unique_ptr<NodeIterator> input, int64_t iteration)
      : input_(std::move(input)), iteration_(iteration) {}

  bool Next(PendingElement* pending) {
    ++index_;  // one that the input fails to make has a number too
    if (input_->NextPending(pending)) return true;
    --index_;
    return false;
  }
  // Of the element returned last.
  PendingElement::Position position() const { return {index_ - 1, iteration_}; }
  Seekable* seekable() { return input_->seekable(); }

  void Save(StateWriter& writer) {
    writer.PutInt("map", index_);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) {
    index_ = reader.GetInt("map");
    input_->Restore(reader);
  }

 private:
  const std::unique_ptr<NodeIterator> input_;
  const int64_t iteration_;
  int64_t index_ = 0;
};

class MapIterator final : public NodeIterator {
 public:
  MapIterator(const MapNode& node, std::unique_ptr<NodeIterator> input, int64_t iteration)
      : node_(node), input_(std::move(input), iteration) {}

  bool Next(Element* element) override {
    if (!input_.Next(&in_)) return false;
    node_.Apply(&in_.element, element, input_.position(), in_.origin);
    return true;
  }
  bool NextPending(PendingElement* pending) override {
    if (!NodeIterator::NextPending(pending)) return false;
    pending->origin = in_.origin;
    return true;
  }
  void Save(StateWriter& writer) override { input_.Save(writer); }
  void Restore(StateReader& reader) override { input_.Restore(reader); }

 private:
  const MapNode& node_;
  MapInput input_;
  PendingElement in_;  // finished as the input gives it
};

// Elements of the input with the numbers that Finish needs, at the positions of the input.
class PendingMapIterator final : public NodeIterator {
 public:
  PendingMapIterator(std::unique_ptr<NodeIterator> input, int64_t iteration)
      : input_(std::move(input), iteration) {}

  bool Next(Element*) override { throw Internal("Map: the function is not called yet"); }
  bool NextPending(PendingElement* pending) override {
    if (!input_.Next(pending)) return false;
    pending->positions.push_back(input_.position());
    return true;
  }
  Seekable* seekable() override { return input_.seekable(); }
  void Save(StateWriter& writer) override { input_.Save(writer); }
  void Restore(StateReader& reader) override { input_.Restore(reader); }

 private:
  MapInput input_;
};

std::unique_ptr<NodeIterator> MapWork::MakeIterator(const IterationContext& context) const {
  return std::make_unique<PendingMapIterator>(input_.MakeIterator(context), StreamOf(context));
}

int MapWork::parallelism() const { return input_.Parallelism(node_.parallel()); }

void MapWork::FinishAt(PendingElement& pending, Element* element, RowBatch* batch,
                       int64_t row) const {
  ScratchElement scratch;
  Element& in = input_.Finish(pending, scratch.get());
  node_.Apply(&in, element, pending.positions[pending.finished++], pending.origin, batch, row);
}

std::unique_ptr<NodeIterator> MapNode::MakeIterator(const IterationContext& context) const {
  if (options_.parallel == 1) {
    return std::make_unique<MapIterator>(*this, input_->MakeIterator(context), StreamOf(context));
  }
  return std::make_unique<ReadAhead>(
      work_.MakeIterator(context), &work_, context,
      ReadAheadOptions{.threads = work_.parallelism(), .ordered = options_.ordered});
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
