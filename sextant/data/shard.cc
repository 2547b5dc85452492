#include "sextant/data/dataset.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

class ShardIterator : public PassingIterator {
 public:
  ShardIterator(std::unique_ptr<NodeIterator> input, int64_t shards, int64_t index)
      : PassingIterator(std::move(input)), shards_(shards), index_(index) {}

  bool Next(Element* element) override {
    while (input_->Next(element)) {
      if (next_++ % shards_ == index_) return true;
    }
    return false;
  }
  void Save(StateWriter& writer) override {
    writer.Int("next", next_);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    next_ = reader.Int("next");
    input_->Restore(reader);
  }

 private:
  const int64_t shards_, index_;
  int64_t next_ = 0;
};

class ShardNode : public UnaryNode {
 public:
  ShardNode(std::shared_ptr<const DatasetNode> input, int64_t shards, int64_t index)
      : UnaryNode(std::move(input)), shards_(shards), index_(index) {
    if (shards < 1 || index < 0 || index >= shards) {
      throw InvalidArgument("Shard {} of {} does not exist", index, shards);
    }
  }

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override {
    return std::make_unique<ShardIterator>(input_->MakeIterator(walk), shards_, index_);
  }
  std::string Describe() const override {
    return fmt::format("{}.Shard({},{})", input_->Describe(), shards_, index_);
  }
  bool Seekable() const override { return input_->Seekable(); }

 private:
  const int64_t shards_, index_;
};

}  // namespace

Dataset Dataset::Shard(int64_t shards, int64_t index) const {
  return Dataset(std::make_shared<ShardNode>(node_, shards, index));
}

}  // namespace sextant::data
