// CoordinatorCommit: a parameter server's questions to the coordinator about synchronous updates.
// HeldSteps: a chief's, while it takes a snapshot between two steps.
#pragma once

#include <atomic>
#include <functional>

#include "sextant/dist/coordinator_client.h"
#include "sextant/dist/step_commit.h"

namespace sextant::dist {

class CoordinatorCommit final : public StepCommit {
 public:
  // The server listens before it has a client. The client outlives all calls.
  void set_client(CoordinatorClient* client) { client_ = client; }

  void Ready(const UpdatePart& part, uint64_t epoch, int64_t step,
             CancellationToken& cancellation) override;
  void Ran(const UpdatePart& part, uint64_t epoch, int64_t step,
           CancellationToken& cancellation) override;
  void Failed(uint64_t epoch, int64_t step, const Status& why) noexcept override;

 private:
  CoordinatorClient& client() const;

  std::atomic<CoordinatorClient*> client_ = nullptr;
};

class HeldSteps {
 public:
  // Waits until no step is being committed; "check_wait" is called meanwhile and may throw.
  HeldSteps(CoordinatorClient& client, uint64_t cut, const std::function<void()>& check_wait);
  ~HeldSteps();
  HeldSteps(const HeldSteps&) = delete;
  HeldSteps& operator=(const HeldSteps&) = delete;

  // Throws ABORTED when they were not held all the time: what was read is not of one step.
  void Release();

 private:
  void ReleaseIfHeld() noexcept;

  CoordinatorClient& client_;
  const uint64_t cut_;
  bool held_ = true;
};

}  // namespace sextant::dist
