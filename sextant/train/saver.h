// Saver: saves the variables of a session to checkpoints and restores them.
//
//   Saver saver(graph);                                     // once, when the graph is complete
//   std::string path = saver.Save(session, "runs/a/model.ckpt", step);   // "runs/a/model.ckpt-200"
//   saver.Restore(session, *LatestCheckpoint("runs/a"));
//
// Files are those of TensorFlow's Saver: checkpoint, `checkpoint` state file, .meta graph; older
// checkpoints are deleted as the options say. Thread-safe, except that a graph being run must not
// be given to the constructor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/formats/checkpoint_retention.h"
#include "sextant/graph/graph.h"
#include "sextant/ops/state/variable.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class SaverDef;
}

namespace sextant {

class Session;
struct SavedTensor;

struct SEXTANT_API SaverOptions {
  int max_to_keep = 5;  // 0: all
  double keep_checkpoint_every_n_hours = 10000;
  bool sharded = false;
  std::string scope = "save";
  std::vector<std::string> leave_out = {};  // names of variables that are not saved
  // Only these, each under the name it has in the checkpoint, e.g. of
  // train::MovingAverage::VariablesToRestore. Not given: all, under their own names.
  std::optional<std::map<std::string, Variable>> variables = {};
  std::function<double()> now = {};  // seconds since the epoch; for tests
};

struct SEXTANT_API SaveOptions {
  std::string state_filename = "checkpoint";
  bool write_meta_graph = true;
  bool write_state = true;
  // Called when all is written, before the state file names it; what it throws leaves the
  // checkpoint out.
  std::function<void()> before_state = {};
};

// What a Saver with these options saves and restores.
std::vector<SavedTensor> SavedTensorsOf(const Graph& graph, const SaverOptions& options);

class SEXTANT_API Saver {
 public:
  // Adds the nodes for the variables of the graph (saver_graph.h). Throws INVALID_ARGUMENT when
  // options.variables has one of another graph.
  explicit Saver(Graph& graph, const SaverOptions& options = {});
  // Uses the nodes that an imported graph has.
  Saver(const proto::SaverDef& def, const SaverOptions& options = {});
  ~Saver();

  // Writes a checkpoint "path" or "path-step" and returns that name. The directory is made if it is
  // missing.
  std::string Save(Session& session, const std::string& path,
                   std::optional<int64_t> step = std::nullopt, const SaveOptions& options = {});
  // Sets all variables. Throws NOT_FOUND when there is no such checkpoint or it lacks a variable,
  // INVALID_ARGUMENT when a shape or type differs, DATA_LOSS, with the others that are whole, when
  // it is damaged.
  void Restore(Session& session, const std::string& prefix);

  // This checkpoint is the best so far, by whatever measure: it is not deleted before there is a
  // better one. Tell it again after Recover.
  void KeepBest(const std::string& prefix);
  // Goes on with the checkpoints of an earlier run, so that they are deleted in their turn, and
  // deletes what it left half done when it was killed. REQUIRES: that process has ended.
  void Recover(const std::string& directory, const std::string& state_filename = "checkpoint");
  // Oldest first.
  std::vector<std::string> last_checkpoints() const;
  const proto::SaverDef& def() const { return *def_; }

 private:
  const std::unique_ptr<const proto::SaverDef> def_;
  const std::function<double()> now_;
  mutable std::mutex mutex_;
  CheckpointRetention retention_;
};

}  // namespace sextant

#pragma GCC visibility pop
