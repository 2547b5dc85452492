#include "sextant/runtime/kept_tensors.h"

#include "sextant/base/error.h"

namespace sextant {

void KeptTensors::Keep(uint64_t run, uint64_t maker, std::vector<Tensor> tensors,
                       const CancellationToken& cancellation) {
  const std::lock_guard lock(mutex_);
  if (!cancellation.cancelled()) runs_[run][maker] = std::move(tensors);
}

std::vector<Tensor> KeptTensors::Find(uint64_t run, uint64_t maker,
                                      std::span<const int32_t> positions) const {
  const std::lock_guard lock(mutex_);
  if (const auto of_run = runs_.find(run); of_run != runs_.end()) {
    if (const auto made = of_run->second.find(maker); made != of_run->second.end()) {
      std::vector<Tensor> tensors;
      for (const int32_t position : positions) {
        if (position < 0 || static_cast<size_t>(position) >= made->second.size())
          throw InvalidArgument("fragment {:016x} keeps no tensor {}", maker, position);
        tensors.push_back(made->second[static_cast<size_t>(position)]);
      }
      return tensors;
    }
  }
  throw NotFound("{} keeps nothing of fragment {:016x} for run {:016x}", task_, maker, run);
}

void KeptTensors::EndRun(uint64_t run) {
  decltype(runs_)::node_type ended;  // freed outside the lock
  const std::lock_guard lock(mutex_);
  ended = runs_.extract(run);
}

size_t KeptTensors::num_runs() const {
  const std::lock_guard lock(mutex_);
  return runs_.size();
}

}  // namespace sextant
