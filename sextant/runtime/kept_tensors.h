// KeptTensors: what fragments have kept on a task for later ones of their Runs. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/base/export.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

class SEXTANT_API KeptTensors {
 public:
  explicit KeptTensors(std::string task) : task_(std::move(task)) {}  // for messages

  // Nothing is kept once the run is cancelled: who has given up has ended it already.
  void Keep(uint64_t run, uint64_t maker, std::vector<Tensor> tensors,
            const CancellationToken& cancellation);
  // Throws NOT_FOUND when that fragment has kept nothing for the run.
  std::vector<Tensor> Find(uint64_t run, uint64_t maker, std::span<const int32_t> positions) const;
  void EndRun(uint64_t run);
  size_t num_runs() const;

 private:
  const std::string task_;
  mutable std::mutex mutex_;
  std::map<uint64_t, std::map<uint64_t, std::vector<Tensor>>> runs_;  // run → maker → tensors
};

}  // namespace sextant
