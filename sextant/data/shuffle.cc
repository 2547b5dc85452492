#include <optional>
#include <vector>

#include "sextant/base/fingerprint.h"
#include "sextant/base/philox.h"
#include "sextant/data/dataset.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

// Keeps a buffer of elements, gives one of them at random and puts the next of the input in its
// place.
class ShuffleIterator : public NodeIterator {
 public:
  ShuffleIterator(std::unique_ptr<NodeIterator> input, bool seekable, int64_t size, uint64_t seed)
      : input_(std::move(input)), seekable_(seekable), size_(size), seed_(seed) {}

  bool Next(Element* element) override {
    while (!input_ended_ && buffer_.size() < static_cast<size_t>(size_)) {
      if (!Read(&spare_)) break;
      buffer_.push_back(std::move(spare_));
      spare_ = {};
    }
    if (buffer_.empty()) return false;
    Slot& slot = buffer_[Draw(buffer_.size())];
    std::swap(*element, slot.element);
    // What the caller's element held goes on to the input as a buffer to be used again.
    std::swap(spare_.element, slot.element);
    std::swap(slot, buffer_.back());
    buffer_.pop_back();
    return true;
  }

  void Save(StateWriter& writer) override {
    writer.Int("draws", static_cast<int64_t>(draws_));
    writer.Int("input_ended", input_ended_);
    writer.Int("shuffle", static_cast<int64_t>(buffer_.size()));
    for (const Slot& slot : buffer_) {
      if (seekable_) {
        writer.Bytes("at", slot.position);
      } else {
        writer.Whole("element", slot.element);
      }
    }
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    draws_ = static_cast<uint64_t>(reader.Int("draws"));
    input_ended_ = reader.Int("input_ended") != 0;
    for (int64_t i = reader.Int("shuffle"); i > 0; --i) {
      Slot slot;
      if (seekable_) {
        slot.position = reader.Bytes("at");
      } else {
        slot.element = reader.Whole("element");
      }
      buffer_.push_back(std::move(slot));
    }
    input_->Restore(reader);
    if (!seekable_) return;
    auto& source = static_cast<SeekableIterator&>(*input_);
    for (Slot& slot : buffer_) slot.element = source.ElementAt(slot.position);
  }

 private:
  struct Slot {
    Element element;
    std::string position;  // where the input is seekable
  };

  bool Read(Slot* slot) {
    if (!input_->Next(&slot->element)) {
      input_ended_ = true;
      return false;
    }
    if (seekable_) slot->position = static_cast<SeekableIterator&>(*input_).Position();
    return true;
  }

  // A number below `count`; each is as likely as the others to one part in 2^32 of `count`.
  size_t Draw(size_t count) {
    const Philox::Block block = Philox::At(seed_, {draws_++, 0});
    const uint64_t bits = UniformBits64(block[0], block[1]);
    return static_cast<size_t>(static_cast<unsigned __int128>(bits) * count >> 64);
  }

  const std::unique_ptr<NodeIterator> input_;
  const bool seekable_;
  const int64_t size_;
  const uint64_t seed_;
  uint64_t draws_ = 0;
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
    uint64_t seed = options_.seed ? static_cast<uint64_t>(*options_.seed) : walk.entropy;
    if (options_.reshuffle) seed = FingerprintCat64(seed, static_cast<uint64_t>(walk.iteration));
    return std::make_unique<ShuffleIterator>(input_->MakeIterator(walk), input_->Seekable(), size_,
                                             seed);
  }
  std::string Describe() const override {
    return fmt::format("{}.Shuffle({},seed={},reshuffle={})", input_->Describe(), size_,
                       options_.seed ? std::to_string(*options_.seed) : "none", options_.reshuffle);
  }

 private:
  const int64_t size_;
  const ShuffleOptions options_;
};

}  // namespace

Dataset Dataset::Shuffle(int64_t buffer, const ShuffleOptions& options) const {
  return Dataset(std::make_shared<ShuffleNode>(node_, buffer, options));
}

}  // namespace sextant::data
