// SummedCalls: the summed calls of one server (device/remote_task.h). Contributions to each part of
// the update are collected (gradient_sum.h) and answered at once; when a part has all of a step,
// and so have the other parts, it runs once (step_commit.h).
//
//   worker 0: Contribute(part 0, token {7, 0}) ─> counted
//   worker 1: Contribute(part 0, token {7, 1}) ─> counted: ready, a thread waits for the commit,
//                                                 runs the fragment, says that it ran
//   worker 2: Contribute(part 0, token {7, 2}) ─> stale
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/device/remote_task.h"
#include "sextant/dist/call_threads.h"
#include "sextant/dist/gradient_sum.h"
#include "sextant/dist/step_commit.h"

namespace sextant::dist {

// Thread-safe.
class SummedCalls {
 public:
  // Runs the fragment on the contributions, in the epoch; throws ABORTED when that has ended.
  using Runner = std::function<void(uint64_t epoch, uint64_t fingerprint,
                                    const std::vector<std::vector<Tensor>>& contributions,
                                    CancellationToken& cancellation)>;
  // "commit" must outlive it.
  SummedCalls(Runner run, StepCommit& commit) : run_(std::move(run)), commit_(commit) {}
  // Ends what waits for a commit.
  ~SummedCalls();

  // Inputs of the fragment's feeds, then of its kept inputs. True: stale, the contribution was
  // dropped. Throws INVALID_ARGUMENT for a fragment that is not the one that others contribute to,
  // and for inputs of other shapes or types; ABORTED when a later epoch has begun.
  bool Contribute(const Fragment& fragment, uint64_t epoch, const StepToken& token,
                  std::vector<Tensor> inputs);

  int64_t num_stale() const;

 private:
  struct Part {
    uint64_t epoch = 0, key = 0;
    GradientSum sum;
  };

  void Commit(const UpdatePart& part, uint64_t epoch, int64_t step, uint64_t fingerprint,
              const std::vector<std::vector<Tensor>>& contributions);

  const Runner run_;
  StepCommit& commit_;
  mutable std::mutex mutex_;
  std::map<int32_t, Part> parts_;
  int64_t stale_ = 0;
  CancellationToken stopped_;
  CallThreads threads_;  // destroyed first
};

}  // namespace sextant::dist
