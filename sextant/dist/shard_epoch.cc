#include "sextant/dist/shard_epoch.h"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant::dist {

std::string FirstDifference(const ModelSignature& there, const ModelSignature& here) {
  const size_t common = std::min(there.size(), here.size());
  const auto [t, h] =
      std::mismatch(there.begin(), there.begin() + static_cast<int64_t>(common), here.begin());
  const bool more_there = t != there.end(), more_here = h != here.end();
  if (more_there && more_here && t->name == h->name) {
    return fmt::format("variable {} is {} {} there and {} {} here", t->name, t->dtype, t->shape,
                       h->dtype, h->shape);
  }
  if (more_there && (!more_here || t->name < h->name)) {
    return fmt::format("variable {} is there and not here", t->name);
  }
  if (more_here) return fmt::format("variable {} is here and not there", h->name);
  return "";
}

void ShardEpoch::Begin(uint64_t epoch, uint64_t chief, ModelSignature signature) {
  if (epoch == state_.epoch && chief == chief_ && state_.phase == ShardPhase::kBegun) return;
  if (epoch <= state_.epoch) {
    throw MakeError<Code::kAborted>("epoch {} cannot begin: epoch {} has begun already", epoch,
                                    state_.epoch);
  }
  state_ = {ShardPhase::kBegun, epoch, std::move(signature)};
  chief_ = chief;
}

void ShardEpoch::Commit(uint64_t epoch) {
  if (epoch != state_.epoch || state_.phase == ShardPhase::kEmpty) {
    throw MakeError<Code::kAborted>("epoch {} cannot be committed: the last one begun is {}", epoch,
                                    state_.epoch);
  }
  state_.phase = ShardPhase::kReady;
}

void ShardEpoch::Check(uint64_t epoch, uint64_t sender) const {
  const bool own = state_.phase == ShardPhase::kBegun && sender == chief_;
  if (epoch == state_.epoch && (own || state_.phase == ShardPhase::kReady)) return;
  throw MakeError<Code::kAborted>(
      "this is a call of epoch {}, but epoch {} {}", epoch, state_.epoch,
      state_.phase == ShardPhase::kReady ? "is current" : "is not ready");
}

StartDecision DecideStart(std::span<const ShardState> servers, const ModelSignature& model) {
  StartDecision decision;
  size_t ready = 0, empty = 0;
  bool one_epoch = true;
  for (size_t i = 0; i < servers.size(); ++i) {
    const ShardState& server = servers[i];
    decision.next_epoch = std::max(decision.next_epoch, server.epoch + 1);
    one_epoch = one_epoch && server.epoch == servers[0].epoch;
    if (server.phase == ShardPhase::kEmpty) ++empty;
    if (server.phase != ShardPhase::kReady) continue;
    ++ready;
    const std::string difference = FirstDifference(server.signature, model);
    if (difference.empty()) continue;
    decision.action = StartAction::kRefuse;
    decision.why = fmt::format("ps {} holds another model: {}", i, difference);
    return decision;
  }
  if (empty == servers.size()) {
    decision.action = StartAction::kInitialise;
  } else if (ready == servers.size() && one_epoch) {
    decision.action = StartAction::kAdopt;
  } else {
    decision.action = StartAction::kRestore;
    const auto lost = std::find_if(servers.begin(), servers.end(), [](const ShardState& server) {
      return server.phase != ShardPhase::kReady;
    });
    decision.why = lost == servers.end()
                       ? std::string("the servers hold different epochs")
                       : fmt::format("ps {} holds no whole model", lost - servers.begin());
  }
  return decision;
}

}  // namespace sextant::dist
