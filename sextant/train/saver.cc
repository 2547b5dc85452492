#include "sextant/train/saver.h"

#include <chrono>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/checkpoint_journal.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/damaged_checkpoint.h"
#include "sextant/formats/message_text.h"
#include "sextant/graph/meta_graph.h"
#include "sextant/proto/meta_graph.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/train/saver_graph.h"

namespace sextant {
namespace {

double SystemTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::function<double()> ClockOf(const SaverOptions& options) {
  return options.now ? options.now : SystemTime;
}

CheckpointRetention::Options RetentionOf(const SaverOptions& options) {
  return {options.max_to_keep, options.keep_checkpoint_every_n_hours};
}

proto::SaverDef AddTo(Graph& graph, const SaverOptions& options) {
  return AddSaverGraph(
      graph, SavedTensorsOf(graph, options),
      {.scope = options.scope,
       .sharded = options.sharded,
       .max_to_keep = options.max_to_keep,
       .keep_checkpoint_every_n_hours = static_cast<float>(options.keep_checkpoint_every_n_hours)});
}

}  // namespace

std::vector<SavedTensor> SavedTensorsOf(const Graph& graph, const SaverOptions& options) {
  std::vector<SavedTensor> tensors =
      options.variables ? SavedTensorsOf(graph, *options.variables) : SavedTensorsOf(graph);
  for (const std::string& name : options.leave_out) {
    std::erase_if(tensors, [&](const SavedTensor& tensor) { return tensor.variable == name; });
  }
  return tensors;
}

Saver::Saver(Graph& graph, const SaverOptions& options) : Saver(AddTo(graph, options), options) {}

Saver::Saver(const proto::SaverDef& def, const SaverOptions& options)
    : def_(std::make_unique<const proto::SaverDef>(def)),
      now_(ClockOf(options)),
      retention_(RetentionOf(options), now_()) {}

Saver::~Saver() = default;

std::string Saver::Save(Session& session, const std::string& path, std::optional<int64_t> step,
                        const SaveOptions& options) {
  std::string prefix = step ? fmt::format("{}-{}", path, *step) : path;
  const std::string directory(DirectoryName(prefix));
  FileSystem& files = FileSystem::ForPath(prefix);
  if (!directory.empty()) files.CreateDirectories(directory);
  const CheckpointJournal journal(directory, options.state_filename);
  if (options.write_state) journal.Note({prefix});
  session.Run({{def_->filename_tensor_name(), Tensor(prefix)}}, {def_->save_tensor_name()});
  if (options.write_meta_graph) {
    proto::MetaGraphDef meta_graph = ExportMetaGraphDef(session.graph());
    *meta_graph.mutable_saver_def() = *def_;
    files.WriteFileAtomically(prefix + ".meta", SerializeSorted(meta_graph));
  }
  if (options.before_state) options.before_state();
  if (!options.write_state) return prefix;
  std::lock_guard lock(mutex_);
  retention_.Saved(prefix, now_());
  std::vector<std::string> dropped;
  while (auto old = retention_.NextToDelete()) dropped.push_back(std::move(*old));
  if (!dropped.empty()) {
    std::vector<std::string> at_work = dropped;
    at_work.push_back(prefix);
    journal.Note(at_work);
  }
  WriteCheckpointState(directory, {.latest = prefix, .all = retention_.kept()},
                       {.filename = options.state_filename});
  for (const std::string& old : dropped) DeleteCheckpoint(old);
  journal.Clear();
  return prefix;
}

void Saver::KeepBest(const std::string& prefix) {
  std::lock_guard lock(mutex_);
  retention_.SetBest(prefix);
  while (const auto old = retention_.NextToDelete()) DeleteCheckpoint(*old);
}

void Saver::Restore(Session& session, const std::string& prefix) {
  if (!CheckpointExists(prefix)) throw NotFound("there is no checkpoint '{}'", prefix);
  try {
    session.Run({{def_->filename_tensor_name(), Tensor(prefix)}}, {}, {def_->restore_op_name()});
  } catch (const Error& e) {
    if (e.code() == Code::kCancelled || e.code() == Code::kResourceExhausted) throw;
    if (!IsWholeCheckpoint(prefix)) {
      throw DataLoss("{} is damaged: {}; {}", prefix, e.message(),
                     AdviceForDamagedCheckpoint(prefix));
    }
    if (e.code() != Code::kNotFound && e.code() != Code::kInvalidArgument) {
      throw e.WithPrefix(fmt::format("restoring {}: ", prefix));
    }
    throw Error(e.code(), fmt::format("restoring {}: {}; if it is a checkpoint of another model, "
                                      "take another directory for this one",
                                      prefix, e.message()));
  }
}

void Saver::Recover(const std::string& directory, const std::string& state_filename) {
  CheckpointJournal(directory, state_filename).CleanUp();
  const auto state = ReadCheckpointState(directory, state_filename);
  if (!state) return;
  std::vector<CheckpointRetention::Checkpoint> existing;
  for (size_t i = 0; i < state->all.size(); ++i) {
    if (!CheckpointExists(state->all[i])) continue;
    existing.push_back(
        {state->all[i], i < state->timestamps.size() ? state->timestamps[i] : now_()});
  }
  std::lock_guard lock(mutex_);
  retention_.Recover(std::move(existing));
}

std::vector<std::string> Saver::last_checkpoints() const {
  std::lock_guard lock(mutex_);
  return retention_.kept();
}

}  // namespace sextant
