// ModelDirLock: at most one training writes to a model_dir at a time. Others only read:
// evaluations, predictions and exports need no lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace sextant {

class CancellationToken;

class ModelDirLock {
 public:
  static constexpr const char* kFilename = "sextant_lock.json";
  // How often who holds a lock touches its file; 20 seconds, but in tests.
  static std::chrono::milliseconds beat;

  // Makes the directory if need be. Throws FAILED_PRECONDITION, naming the process and its host,
  // when another training has it, one of this process included. What a process left that is no
  // more is taken over.
  // Waits at most a little more than one beat, until "cancellation" is cancelled, or the scope of
  // the thread (base/cancellable_wait.h).
  explicit ModelDirLock(const std::string& model_dir, CancellationToken* cancellation = nullptr)
      : ModelDirLock(model_dir, {}, false, cancellation) {}
  // Of the chief of a cluster. "training" names the cluster; take_over: the coordinator has taken
  // this process for the chief, so one of the same training that has the lock, and is stopped or
  // cut off, has lost it.
  ModelDirLock(const std::string& model_dir, const std::string& training, bool take_over,
               CancellationToken* cancellation = nullptr);
  ~ModelDirLock();
  ModelDirLock(const ModelDirLock&) = delete;
  ModelDirLock& operator=(const ModelDirLock&) = delete;

 private:
  class File;
  const std::string model_dir_;
  std::unique_ptr<File> file_;  // null where the file system has no locks
};

// Of those who do not take the lock: asks again and again whether a training seems to hold it.
class TrainingWatch {
 public:
  explicit TrainingWatch(std::string model_dir);
  // Its file is there, and who made it has touched it lately. One that was killed seems to for two
  // minutes more. A time in the future, from when a clock was wrong, counts for little more than a
  // beat, unless it changes.
  bool InTraining();

 private:
  const std::string model_dir_;
  int64_t touched_ = 0;
  std::chrono::steady_clock::time_point seen_;  // when it was last found to have changed
};

}  // namespace sextant
