// RecordReader: the resource behind the reader ops. Thread-safe: reads take turns; a read that
// waits for its turn, or for a name from the queue, ends when its token is cancelled.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sextant/device/run_wait.h"
#include "sextant/ops/reader/work_unit.h"
#include "sextant/tensor/handle.h"

namespace sextant {

class TensorQueue;

class RecordReader final : public Resource {
 public:
  static constexpr const char* kTypeName = "Reader";
  // "kind" is for messages. "saves" says whether the reader can tell where it stands.
  RecordReader(std::string kind, OpenWorkUnit open, bool saves)
      : kind_(std::move(kind)), open_(std::move(open)), saves_(saves) {}

  // Appends at most "count" records of one work unit, at least one. Takes a name from the queue
  // when the last unit is at its end: throws what that throws.
  void Read(int64_t count, TensorQueue& queue, const RunWait& wait, std::vector<std::string>* keys,
            std::vector<std::string>* values);

  int64_t records_produced() const;
  int64_t units_completed() const;
  void Reset(const RunWait& wait);
  // The message ReaderBaseState. Throws UNIMPLEMENTED for readers that cannot tell.
  std::string SerializeState(const RunWait& wait);
  void RestoreState(const std::string& state, const RunWait& wait);

  std::string DebugString() const override { return kind_; }

 private:
  struct State {
    int64_t started = 0, finished = 0, produced = 0;
    std::string name;  // of the last unit begun
  };
  class Turn;

  void StartNext(TensorQueue& queue, const RunWait& wait);
  void CheckSaves() const;

  const std::string kind_;
  const OpenWorkUnit open_;
  const bool saves_;
  mutable std::mutex mutex_;
  std::condition_variable free_;
  bool busy_ = false;  // a thread has its turn: unit_ and changes of state_ are its own
  State state_;
  std::unique_ptr<WorkUnit> unit_;
};

}  // namespace sextant
