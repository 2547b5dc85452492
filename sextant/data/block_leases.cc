#include "sextant/data/block_leases.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "sextant/base/coding.h"
#include "sextant/base/error.h"
#include "sextant/base/fingerprint.h"
#include "sextant/base/logging.h"
#include "sextant/data/shuffle_draws.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

class FixedBlockLeases final : public BlockLeases {
 public:
  FixedBlockLeases(int rank, int count, uint64_t seed) : rank_(rank), count_(count), seed_(seed) {}

  uint64_t BlockBytes(uint64_t all) const override {
    return std::clamp<uint64_t>(all / (static_cast<uint64_t>(count_) * 16), 4096, 8 << 20);
  }
  std::optional<BlockLease> Next(const BlockSource& source, std::span<const BlockLease>,
                                 std::span<const BlockLease>, const BlockLease* last,
                                 FunctionRef<std::vector<InputBlock>()> cut,
                                 CancellationToken*) override {
    const std::lock_guard lock(mutex_);
    auto [it, added] = blocks_.try_emplace(source.name);
    if (added) it->second = cut();
    const std::vector<InputBlock>& blocks = it->second;
    const std::vector<int64_t> order = OrderOf(source, blocks.size());
    size_t next = static_cast<size_t>(rank_);
    if (last != nullptr) {
      const auto at = std::find(order.begin(), order.end(), last->number);
      next = static_cast<size_t>(at - order.begin()) + static_cast<size_t>(count_);
    }
    if (next >= order.size()) {
      if (blocks.size() > 1 || rank_ > 0) set_read_elsewhere();
      return std::nullopt;
    }
    const int64_t number = order[next];
    return BlockLease{source.iteration, number, blocks[static_cast<size_t>(number)]};
  }
  void Report(const BlockSource&, std::span<const BlockLease>) override {}

 private:
  std::vector<int64_t> OrderOf(const BlockSource& source, size_t count) const {
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    ShuffleDraws draws{FingerprintCat64(FingerprintCat64(seed_, Fingerprint64(source.name)),
                                        static_cast<uint64_t>(source.iteration))};
    for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[draws.Below(i)]);
    return order;
  }

  const int rank_, count_;
  const uint64_t seed_;
  std::mutex mutex_;
  std::map<std::string, std::vector<InputBlock>> blocks_;
};

class SharedInputNode final : public PassThroughNode {
 public:
  SharedInputNode(std::shared_ptr<const DatasetNode> input, SharedInputOptions options)
      : PassThroughNode(std::move(input)), options_(std::move(options)) {}

  std::string Describe() const override { return input_->Describe(); }
  bool prefetches() const override { return input_->prefetches(); }

 private:
  std::unique_ptr<NodeIterator> MakeIteratorOver(const Iterable& input,
                                                 const IterationContext& context) const override {
    IterationContext shared = context;
    shared.leases = options_.leases;
    shared.rank = options_.rank;
    return input.MakeIterator(shared);
  }

  const SharedInputOptions options_;
};

}  // namespace

std::string EncodeBlock(const InputBlock& block) {
  std::string bytes;
  PutFixed32(&bytes, block.file);
  PutFixed64(&bytes, block.begin);
  PutFixed64(&bytes, block.end);
  PutFixed64(&bytes, static_cast<uint64_t>(block.line));
  return bytes += block.path;
}

InputBlock DecodeBlock(std::string_view bytes) {
  InputBlock block;
  uint64_t line;
  if (!GetFixed32(&bytes, &block.file) || !GetFixed64(&bytes, &block.begin) ||
      !GetFixed64(&bytes, &block.end) || !GetFixed64(&bytes, &line)) {
    throw DataLoss("this does not describe a block of input");
  }
  block.line = static_cast<int64_t>(line);
  block.path = bytes;
  return block;
}

void BlockLeases::LeaveAlone(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (!left_alone_.insert(what).second) return;
  LogInfo("The input is not shared out among the workers, each reads all of it: {}", what);
}

std::shared_ptr<BlockLeases> FixedBlocks(int rank, int count, uint64_t seed) {
  if (count < 1 || rank < 0 || rank >= count) {
    throw InvalidArgument("there is no rank {} of {} that read blocks", rank, count);
  }
  return std::make_shared<FixedBlockLeases>(rank, count, seed);
}

Dataset ShareInput(const Dataset& dataset, const SharedInputOptions& options) {
  return Dataset(std::make_shared<SharedInputNode>(dataset.node(), options));
}

}  // namespace sextant::data
