#include <vector>

#include "sextant/base/fingerprint.h"
#include "sextant/data/cancellable_loop.h"
#include "sextant/data/dataset.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/row_shuffle.h"
#include "sextant/data/shuffle_draws.h"
#include "sextant/data/shuffle_limit.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

// Keeps a buffer of elements, gives one of them at random and puts the next of the input in its
// place. Pending elements are mostly smaller than what is made of them.
class ShuffleIterator final : public NodeIterator {
 public:
  ShuffleIterator(std::unique_ptr<NodeIterator> input, int64_t size, uint64_t seed)
      : input_(std::move(input)), size_(size), draws_{seed} {}

  bool Next(Element* element) override {
    Slot* const slot = Drawn();
    if (slot == nullptr) return false;
    std::swap(*element, slot->pending.element);
    Remove(slot);
    return true;
  }
  bool NextPending(PendingElement* pending) override {
    Slot* const slot = Drawn();
    if (slot == nullptr) return false;
    std::swap(*pending, slot->pending);
    Remove(slot);
    return true;
  }

  void Save(StateWriter& writer) override {
    const bool seekable = input_->seekable() != nullptr;
    writer.PutInt("draws", static_cast<int64_t>(draws_.count));
    writer.PutInt("input_ended", input_ended_);
    writer.PutInt("shuffle", static_cast<int64_t>(buffer_.size()));
    for (const Slot& slot : buffer_) {
      if (seekable) {
        writer.PutBytes("at", slot.position);
      } else {
        writer.PutElement("element", slot.pending.element);
      }
      SavePositions(slot.pending, writer);
    }
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    const bool seekable = input_->seekable() != nullptr;
    draws_.count = static_cast<uint64_t>(reader.GetInt("draws"));
    input_ended_ = reader.GetInt("input_ended") != 0;
    for (int64_t i = reader.GetInt("shuffle"); i > 0; --i) {
      Slot slot;
      if (seekable) {
        slot.position = reader.GetBytes("at");
      } else {
        slot.pending.element = reader.GetElement("element");
      }
      RestorePositions(&slot.pending, reader);
      buffer_.push_back(std::move(slot));
    }
    input_->Restore(reader);
    const CancellableLoop loop;
    for (Slot& slot : buffer_) {
      if (seekable) {
        loop.Turn();
        slot.pending.element = input_->seekable()->ElementAt(slot.position);
        slot.pending.origin = slot.position;
      }
      bytes_ += slot.bytes = BytesOf(slot);
    }
  }

 private:
  struct Slot {
    PendingElement pending;
    std::string position;  // where the input is seekable
    uint64_t bytes = 0;
  };

  static uint64_t BytesOf(const Slot& slot) {
    constexpr uint64_t kBuffer = 64;  // about what a tensor has beside its values
    uint64_t bytes = sizeof(Slot) + HeapBytes(slot.position) + HeapBytes(slot.pending.origin);
    for (const auto& [name, tensor] : slot.pending.element.fields()) {
      bytes += sizeof(Element::Field) + kBuffer + tensor.bytes();
      if (tensor.dtype() != DType::kString) continue;
      const std::string* const texts = tensor.data<std::string>();
      for (int64_t i = 0; i < tensor.num_elements(); ++i) bytes += HeapBytes(texts[i]);
    }
    return bytes;
  }

  // One of the buffer, which is full; null at the end.
  Slot* Drawn() {
    const CancellableLoop loop;
    while (!input_ended_ && buffer_.size() < static_cast<size_t>(size_)) {
      loop.Turn();
      CheckShuffleBytes(buffer_.size(), bytes_);
      if (!Read(&spare_)) break;
      buffer_.push_back(std::move(spare_));
      bytes_ += buffer_.back().bytes;
      spare_ = {};
    }
    return buffer_.empty() ? nullptr : &buffer_[draws_.Below(buffer_.size())];
  }
  // What the caller gave for it goes on to the input as a buffer to be used again.
  void Remove(Slot* slot) {
    bytes_ -= slot->bytes;
    std::swap(spare_.pending, slot->pending);
    std::swap(*slot, buffer_.back());
    buffer_.pop_back();
  }

  bool Read(Slot* slot) {
    if (!input_->NextPending(&slot->pending)) {
      input_ended_ = true;
      return false;
    }
    if (const Seekable* const at = input_->seekable()) slot->position = at->Position();
    slot->bytes = BytesOf(*slot);
    return true;
  }

  // Finished elements have none.
  static void SavePositions(const PendingElement& pending, StateWriter& writer) {
    if (pending.positions.empty()) return;
    writer.PutInt("positions", static_cast<int64_t>(pending.positions.size()));
    for (const PendingElement::Position& position : pending.positions) {
      writer.PutInt("index", position.index);
      writer.PutInt("iteration", position.iteration);
    }
  }
  static void RestorePositions(PendingElement* pending, StateReader& reader) {
    if (!reader.NextIs("positions")) return;
    for (int64_t i = reader.GetInt("positions"); i > 0; --i) {
      const int64_t index = reader.GetInt("index");
      pending->positions.push_back({index, reader.GetInt("iteration")});
    }
  }

  const std::unique_ptr<NodeIterator> input_;
  const int64_t size_;
  ShuffleDraws draws_;
  bool input_ended_ = false;
  std::vector<Slot> buffer_;
  uint64_t bytes_ = 0;  // that its slots take
  Slot spare_;
};

// Work that the input defers depends on the element's number, not on when it is done.
class ShuffleNode : public PassThroughNode {
 public:
  ShuffleNode(std::shared_ptr<const DatasetNode> input, int64_t size, const ShuffleOptions& options)
      : PassThroughNode(std::move(input)), size_(size), options_(options) {
    if (size < 1)
      throw InvalidArgument("Shuffle needs a buffer of at least 1 element, not {}", size);
  }

  std::string Describe() const override {
    return fmt::format("{}.Shuffle({},seed={},reshuffle={})", input_->Describe(), size_,
                       options_.seed ? std::to_string(*options_.seed) : "none", options_.reshuffle);
  }

 private:
  std::unique_ptr<NodeIterator> MakeIteratorOver(const Iterable& input,
                                                 const IterationContext& context) const override {
    uint64_t seed = options_.seed ? static_cast<uint64_t>(*options_.seed) : context.entropy;
    seed = context.WithRank(seed);
    if (options_.reshuffle) seed = FingerprintCat64(seed, static_cast<uint64_t>(context.iteration));
    const RowFormat* const format = input.row_format();
    if (format != nullptr && size_ <= RowShuffle::kMaxSize) {
      return std::make_unique<RowShuffle>(input.MakeIterator(context), *format, size_, seed);
    }
    return std::make_unique<ShuffleIterator>(input.MakeIterator(context), size_, seed);
  }

  const int64_t size_;
  const ShuffleOptions options_;
};

}  // namespace

Dataset Dataset::Shuffle(int64_t buffer, const ShuffleOptions& options) const {
  return Dataset(std::make_shared<ShuffleNode>(node_, buffer, options));
}

}  // namespace sextant::data
