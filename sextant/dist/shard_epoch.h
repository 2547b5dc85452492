// ShardEpoch: which model a parameter server holds, and since which epoch.
//
// An epoch is a time in which the variables of all parameter servers belong together: it begins
// when the chief initialises or restores all of them, and ends when one of them is lost. Two phases
// keep it whole: Begin on every server, then the assignments, then Commit on every server, on the
// coordinator's last. Every call carries its epoch; one of another epoch is ABORTED and its sender
// joins again. So no call ever mixes variables of two epochs, whichever task is killed in between.
//
//   shard.Begin(4, signature);   // nobody but the chief of epoch 4 may touch the variables
//   shard.Commit(4);             // now all calls of epoch 4 may
//
// DecideStart says what a chief that starts does with what it finds on the servers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::dist {

// What a graph keeps on the servers, in order of names: the check that a chief and the servers mean
// the same model.
struct VariableSpec {
  std::string name, dtype, shape;
  bool operator==(const VariableSpec&) const = default;
};
using ModelSignature = std::vector<VariableSpec>;

// Says the first variable in which they differ, e.g. "variable w is float [2,3] there and float
// [2,4] here"; "" when they are equal.
std::string FirstDifference(const ModelSignature& there, const ModelSignature& here);

enum class ShardPhase { kEmpty, kBegun, kReady };

struct ShardState {
  ShardPhase phase = ShardPhase::kEmpty;
  uint64_t epoch = 0;  // the last one begun
  ModelSignature signature = {};
};

class ShardEpoch {
 public:
  const ShardState& state() const { return state_; }

  // May be sent again. Throws ABORTED when a later epoch, or this one, has begun with another
  // chief's call.
  void Begin(uint64_t epoch, uint64_t chief, ModelSignature signature);
  // May be sent again. Throws ABORTED unless this is the epoch that has begun.
  void Commit(uint64_t epoch);

  // For every call that touches variables. Throws ABORTED unless the epoch is the one that is
  // ready or, for the chief of it, the one that has begun.
  void Check(uint64_t epoch, uint64_t sender) const;

 private:
  ShardState state_;
  uint64_t chief_ = 0;  // the incarnation that began it
};

enum class StartAction {
  kAdopt,       // all hold the same epoch of this model: go on, nothing is lost
  kInitialise,  // none holds a model: the newest checkpoint, else initial values, in a new epoch
  kRestore,     // some do: all are restored from the newest checkpoint, in a new epoch
  kRefuse,      // they hold another model
};
struct StartDecision {
  StartAction action = StartAction::kInitialise;
  uint64_t next_epoch = 1;  // larger than all there are
  std::string why = {};     // of kRefuse and kRestore
};
// The states of the servers, by index.
StartDecision DecideStart(std::span<const ShardState> servers, const ModelSignature& model);

}  // namespace sextant::dist
