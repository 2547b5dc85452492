// PendingCalls: the calls of other tasks that one run of a Plan has under way.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "sextant/device/remote_task.h"
#include "sextant/runtime/run_token.h"

namespace sextant {

// A fragment and the task that runs it.
struct PlanCall {
  std::shared_ptr<const Fragment> fragment;
  RemoteTask* task = nullptr;
};

class PendingCalls {
 public:
  // "calls" must outlive it.
  explicit PendingCalls(const std::vector<PlanCall>& calls)
      : calls_(calls), pending_(calls.size()), answered_(calls.size()) {}
  ~PendingCalls() { End(); }
  PendingCalls(const PendingCalls&) = delete;
  PendingCalls& operator=(const PendingCalls&) = delete;

  // Of the run: its session, as other tasks know it, and the token of synchronous training or null.
  // That is told when a contribution came too late.
  void Begin(uint64_t session, RunToken* token) {
    session_ = session;
    token_ = token;
  }
  // Start and Finish may be called by several threads, for different calls.
  // Throws FAILED_PRECONDITION for a summed call without a token.
  void Start(size_t call, std::vector<Tensor> inputs);
  // Throws what RemoteCall::WaitFor throws, also where another call under way fails first: a task
  // that is gone is not waited for behind one that is slow. The error of a deadline names the tasks
  // that have not answered, and why not where that is known.
  void Finish(size_t call, std::span<Tensor> outputs, CancellationToken& cancellation);
  // Of the run: cancels what is under way and lets the tasks forget what they keep.
  void End() noexcept;

 private:
  void LookAfterOthers(CancellationToken& cancellation);
  std::string Silent(size_t call, const RemoteCall& waited_for) const;

  const std::vector<PlanCall>& calls_;
  // Calls start while a thread waits for one that waits for them. Also of what follows.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<RemoteCall>> pending_;
  std::vector<bool> answered_;        // of those pending, when they were last looked after
  std::vector<RemoteTask*> keepers_;  // tasks that may keep tensors of the run
  uint64_t run_ = 0;                  // 0: nothing was started
  uint64_t session_ = 0;
  RunToken* token_ = nullptr;
};

}  // namespace sextant
