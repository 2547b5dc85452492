#include "sextant/data/cancellable_loop.h"
#include "sextant/data/dataset.h"
#include "sextant/data/selecting_iterator.h"

namespace sextant::data {
namespace {

class ShardIterator : public SelectingIterator {
 public:
  ShardIterator(std::unique_ptr<NodeIterator> input, int64_t shards, int64_t index)
      : SelectingIterator(std::move(input), "next"), shards_(shards), index_(index) {}

 private:
  bool Select(FunctionRef<bool()> next, const Element&) override {
    const CancellableLoop loop;
    while (next()) {
      if (count_++ % shards_ == index_) return true;
      loop.Turn();
    }
    return false;
  }

  const int64_t shards_, index_;
};

class ShardNode : public SelectingNode {
 public:
  ShardNode(std::shared_ptr<const DatasetNode> input, int64_t shards, int64_t index)
      : SelectingNode(std::move(input)), shards_(shards), index_(index) {
    if (shards < 1 || index < 0 || index >= shards) {
      throw InvalidArgument("Shard {} of {} does not exist", index, shards);
    }
  }

  std::string Describe() const override {
    return fmt::format("{}.Shard({},{})", input_->Describe(), shards_, index_);
  }

 private:
  std::unique_ptr<NodeIterator> MakeIteratorOver(const Iterable& input,
                                                 const IterationContext& context) const override {
    return std::make_unique<ShardIterator>(
        input.MakeIterator(context.Whole("the pipeline has a Shard of its own")), shards_, index_);
  }

  const int64_t shards_, index_;
};

}  // namespace

Dataset Dataset::Shard(int64_t shards, int64_t index) const {
  return Dataset(std::make_shared<ShardNode>(node_, shards, index));
}

}  // namespace sextant::data
