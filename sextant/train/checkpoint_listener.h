// CheckpointListener: is told about the checkpoints of a MonitoredSession, e.g. to evaluate them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {
class Saver;
class Session;
}  // namespace sextant

namespace sextant::train {

// A checkpoint and the session whose variables it holds at this moment.
struct SEXTANT_API SavedCheckpoint {
  Session& session;  // that was saved
  std::string path;  // prefix of the checkpoint
  int64_t step = 0;
  bool first = false;  // of a new training: nothing has been learnt
  Saver& saver;        // that wrote it
};

class SEXTANT_API CheckpointListener {
 public:
  virtual ~CheckpointListener() = default;
  // The session has the variables of this checkpoint; no step was run yet.
  virtual void AfterRestore(const SavedCheckpoint& checkpoint) { (void)checkpoint; }
  virtual void BeforeSave(Session& session, int64_t step) { (void)session, (void)step; }
  // Whether the training should stop.
  virtual bool AfterSave(const SavedCheckpoint& checkpoint) {
    (void)checkpoint;
    return false;
  }
  // The last checkpoint is saved.
  virtual void End(const SavedCheckpoint& checkpoint) { (void)checkpoint; }
};
using ListenerRef = std::shared_ptr<CheckpointListener>;

}  // namespace sextant::train

#pragma GCC visibility pop
