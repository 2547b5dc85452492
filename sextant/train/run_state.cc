// A training that is killed and resumed gives bit for bit the variables of one that was not,
// because everything that a step reads is in the checkpoint: the variables, the positions of the
// data iterators, the counters of the random streams and the state of the hooks. The last three are
// encoded into one string, which is a variable like the others: it is saved in the same checkpoint,
// by the same rename of a finished file, so there is no moment at which one is newer than the
// other.
//
//   version 1
//   iterators  n × (resource name, state of its tree of iterators)
//   random     n × (node name, Philox key and 128-bit counter)
//   hooks      n × (hook name, what Hook::SaveState gave)
//
// The chief of a cluster writes a table of such states, version 2: which blocks of the data are
// read (dist/input_blocks.h), then n × (rank, its state of version 1).
//
// Invariant: Capture runs between two steps, when no Run is under way, so the four parts belong to
// the same step. Random streams are counter-based (Salmon et al., Parallel random numbers: as easy
// as 1, 2, 3, 2011): key and counter are their whole state. Names that the graph no longer has are
// ignored, and an iterator whose input changed begins anew: then the model is resumed, not the
// place in the data.
#include "sextant/train/run_state.h"

#include <mutex>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/data/state.h"
#include "sextant/device/random_state.h"
#include "sextant/device/resource_manager.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/dataset/iterator_states.h"

namespace sextant::train {
namespace {

constexpr int64_t kVersion = 1, kTableVersion = 2;

void CheckVersion(int64_t version, int64_t known) {
  if (version == known) return;
  throw FailedPrecondition("the checkpoint's run state is of version {}, this program knows {}",
                           version, known);
}

// That of one process is a table with one row.
ClusterRunState ReadTable(const Tensor& value) {
  ClusterRunState table;
  const std::string& bytes = value.scalar<std::string>();
  if (bytes.empty()) return table;
  data::StateReader reader(bytes);
  const int64_t version = reader.GetInt("version");
  if (version == kVersion) {
    table.ranks[0] = bytes;
    return table;
  }
  CheckVersion(version, kTableVersion);
  table.input = reader.GetBytes("input");
  for (int64_t i = reader.GetInt("ranks"); i > 0; --i) {
    const auto rank = static_cast<int>(reader.GetInt("rank"));
    table.ranks[rank] = reader.GetBytes("state");
  }
  return table;
}

void WriteStrings(data::StateWriter& writer, const char* what,
                  const std::map<std::string, std::string>& values) {
  writer.PutInt(what, static_cast<int64_t>(values.size()));
  for (const auto& [name, value] : values) {
    writer.PutBytes("name", name);
    writer.PutBytes("value", value);
  }
}

std::map<std::string, std::string> ReadStrings(data::StateReader& reader, const char* what) {
  std::map<std::string, std::string> values;
  for (int64_t i = reader.GetInt(what); i > 0; --i) {
    const std::string name = reader.GetBytes("name");
    values[name] = reader.GetBytes("value");
  }
  return values;
}

// Positions of all random streams of the session, by node.
std::map<std::string, std::string> RandomPositions(ResourceManager& resources) {
  std::map<std::string, std::string> positions;
  for (const auto& [key, resource] : resources.All()) {
    if (key.first != RandomState::kContainer) continue;
    const Philox at = std::static_pointer_cast<RandomState>(resource)->position();
    data::StateWriter writer;
    writer.PutInt("key", static_cast<int64_t>(at.key()));
    writer.PutInt("low", static_cast<int64_t>(at.counter().low));
    writer.PutInt("high", static_cast<int64_t>(at.counter().high));
    positions[key.second] = writer.Take();
  }
  return positions;
}

// Streams that the state does not know were not used when it was taken.
void SetRandomPositions(const std::map<std::string, std::string>& positions,
                        ResourceManager& resources) {
  for (const auto& [key, resource] : resources.All()) {
    if (key.first == RandomState::kContainer && !positions.contains(key.second))
      std::static_pointer_cast<RandomState>(resource)->Rewind();
  }
  for (const auto& [node, bytes] : positions) {
    data::StateReader reader(bytes);
    const auto key = static_cast<uint64_t>(reader.GetInt("key"));
    const auto low = static_cast<uint64_t>(reader.GetInt("low"));
    const auto high = static_cast<uint64_t>(reader.GetInt("high"));
    const Philox at(key, {low, high});
    resources
        .LookupOrCreate<RandomState>(RandomState::kContainer, node,
                                     [&] { return std::make_shared<RandomState>(at); })
        ->set_position(at);
  }
}

// Once: a training saves often.
void SayThatPositionsStay() {
  static std::once_flag said;
  std::call_once(said, [] {
    LogInfo(
        "the session runs in another process: checkpoints hold its variables, not the positions of "
        "its data and random numbers");
  });
}

}  // namespace

RunState::RunState() {
  const NameScope root("");
  variable_ = Variable(kVariable, Tensor(""), {.trainable = false});
  const NameScope scope("sextant/run_state/");
  given_ = Placeholder(DType::kString, PartialShape({}), "given");
  store_ = AssignVariable(variable_.handle(), given_);
}

void RunState::Capture(Session& session, const Hooks& hooks) const {
  session.Run({{given_, Tensor(StateOf(session, hooks))}}, store_);
}

void RunState::Apply(Session& session, const Hooks& hooks) const {
  ApplyState(ReadTable(session.Run(variable_.value())).ranks[0], session, hooks);
}

void RunState::CaptureCluster(Session& session, const Hooks& hooks, ClusterRunState others) const {
  others.ranks[0] = StateOf(session, hooks);
  data::StateWriter writer;
  writer.PutInt("version", kTableVersion);
  writer.PutBytes("input", others.input);
  writer.PutInt("ranks", static_cast<int64_t>(others.ranks.size()));
  for (const auto& [rank, state] : others.ranks) {
    writer.PutInt("rank", rank);
    writer.PutBytes("state", state);
  }
  session.Run({{given_, Tensor(writer.Take())}}, store_);
}

ClusterRunState RunState::OthersIn(Session& session) const {
  ClusterRunState table = ReadTable(session.Run(variable_.value()));
  table.ranks.erase(0);
  return table;
}

std::string RunState::StateOf(Session& session, const Hooks& hooks) {
  data::StateWriter writer;
  writer.PutInt("version", kVersion);
  std::map<std::string, std::string> iterators, random;
  if (session.remote()) {
    SayThatPositionsStay();
  } else {
    iterators = data::SaveIteratorStates(session.resources());
    random = RandomPositions(session.resources());
  }
  WriteStrings(writer, "iterators", iterators);
  WriteStrings(writer, "random", random);
  std::map<std::string, std::string> states;
  for (const auto& hook : hooks) {
    if (const std::string name = hook->name(); !name.empty()) states[name] = hook->SaveState();
  }
  WriteStrings(writer, "hooks", states);
  return writer.Take();
}

void RunState::ApplyState(const std::string& state, Session& session, const Hooks& hooks) {
  if (state.empty()) return;
  data::StateReader reader(state);
  CheckVersion(reader.GetInt("version"), kVersion);
  const auto iterators = ReadStrings(reader, "iterators"), random = ReadStrings(reader, "random");
  if (!session.remote()) {
    // Who goes on with other files or another size of batches wants the model, not the place.
    data::RestoreIteratorStates(iterators, session.resources(), /*or_begin_anew=*/true);
    SetRandomPositions(random, session.resources());
  }
  const std::map<std::string, std::string> states = ReadStrings(reader, "hooks");
  for (const auto& hook : hooks) {
    if (const auto it = states.find(hook->name()); it != states.end()) {
      hook->RestoreState(it->second);
    }
  }
}

}  // namespace sextant::train
