#include "sextant/estimator/input_sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/base/wait_notice.h"
#include "sextant/data/block_leases.h"

namespace sextant {
namespace {

constexpr std::chrono::milliseconds kAskAgain{100};

BlockId IdOf(const data::BlockLease& lease) { return {lease.iteration, lease.number}; }

// Asks the coordinator. Does not keep the cluster alive: it belongs to the training, this to its
// graph.
class ClusterBlocks final : public data::BlockLeases {
 public:
  ClusterBlocks(std::weak_ptr<Cluster> cluster, int replicas)
      : cluster_(std::move(cluster)), replicas_(static_cast<uint64_t>(std::max(replicas, 1))) {}

  uint64_t BlockBytes(uint64_t all) const override {
    return std::clamp<uint64_t>(all / (replicas_ * 16), 4096, 8 << 20);
  }

  std::optional<data::BlockLease> Next(const data::BlockSource& source,
                                       std::span<const data::BlockLease> read,
                                       std::span<const data::BlockLease> held,
                                       const data::BlockLease* /*last*/,
                                       FunctionRef<std::vector<data::InputBlock>()> cut,
                                       CancellationToken* cancellation) override {
    BlockQuestion question{
        .source = source.name, .iteration = source.iteration, .more_follow = source.more_follow};
    for (const data::BlockLease& lease : read) question.read.push_back(IdOf(lease));
    for (const data::BlockLease& lease : held) question.held.push_back(IdOf(lease));
    WaitNotice notice;
    for (;;) {
      const std::shared_ptr<Cluster> cluster = cluster_.lock();
      if (!cluster) return std::nullopt;
      const BlockAnswer answer = Ask(*cluster, question);
      switch (answer.kind) {
        case BlockAnswer::Kind::kBlock:
          return data::BlockLease{answer.id.iteration, answer.id.number,
                                  data::DecodeBlock(answer.block)};
        case BlockAnswer::Kind::kEnd:
          if (answer.read_elsewhere) set_read_elsewhere();
          return std::nullopt;
        case BlockAnswer::Kind::kDescribe:
          Describe(*cluster, source.name, cut());
          break;
        case BlockAnswer::Kind::kWait:
          if (cluster->stopping()) return std::nullopt;
          notice.Say([] {
            return std::string(
                "Waiting for blocks of the training data that other workers have not read to "
                "their ends.");
          });
          SleepUntil(std::chrono::steady_clock::now() + kAskAgain, cancellation);
      }
    }
  }

  void Report(const data::BlockSource& source, std::span<const data::BlockLease> read) override {
    const std::shared_ptr<Cluster> cluster = cluster_.lock();
    if (!cluster) return;
    BlockQuestion question{
        .source = source.name, .iteration = source.iteration, .report_only = true};
    for (const data::BlockLease& lease : read) question.read.push_back(IdOf(lease));
    Ask(*cluster, question);
  }

 private:
  // A task that is no member for the moment joins again by its heartbeats.
  static BlockAnswer Ask(Cluster& cluster, const BlockQuestion& question) {
    try {
      return cluster.NextBlock(question);
    } catch (const Error& e) {
      if (e.code() != Code::kAborted) throw;
      return {.kind = BlockAnswer::Kind::kWait};
    }
  }
  static void Describe(Cluster& cluster, const std::string& source,
                       const std::vector<data::InputBlock>& blocks) {
    std::vector<std::string> described;
    for (const data::InputBlock& block : blocks) described.push_back(data::EncodeBlock(block));
    LogInfo("The training data {} is shared out in {} blocks.", source.substr(0, source.rfind('#')),
            blocks.size());
    try {
      cluster.DescribeInput(source, described);
    } catch (const Error& e) {
      if (e.code() != Code::kAborted) throw;
    }
  }

  const std::weak_ptr<Cluster> cluster_;
  const uint64_t replicas_;
};

}  // namespace

InputFn ShareOutInput(const InputFn& input_fn, const RunConfig& config,
                      const std::shared_ptr<Cluster>& cluster) {
  const dist::Task& task = config.task;
  const int rank = task.rank.value_or(0);
  data::SharedInputOptions options{.leases = {}, .rank = rank};
  // Who is first to ask gets the next block: two runs differ.
  const bool leases = config.cluster.input_sharding == "leases" && !config.cluster.deterministic;
  if (leases) {
    options.leases = std::make_shared<ClusterBlocks>(cluster, task.num_replicas);
  } else if (config.cluster.input_sharding != "none") {
    options.leases = data::FixedBlocks(rank, std::max(task.num_replicas, rank + 1),
                                       static_cast<uint64_t>(config.random_seed.value_or(0)));
  }
  return [input_fn, options] {
    Input input = input_fn();
    if (input.build() || !input.dataset().valid()) return input;
    return Input(data::ShareInput(input.dataset(), options), input.labels());
  };
}

}  // namespace sextant
