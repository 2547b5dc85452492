#include "sextant/dist/coordinator_commit.h"

#include "sextant/base/error.h"
#include "sextant/base/logging.h"

namespace sextant::dist {

// Contributions come in an epoch, which begins when the server has joined.
CoordinatorClient& CoordinatorCommit::client() const {
  CoordinatorClient* client = client_;
  if (client == nullptr) throw FailedPrecondition("the server has not joined the training yet");
  return *client;
}

void CoordinatorCommit::Ready(const UpdatePart& part, uint64_t epoch, int64_t step,
                              CancellationToken& cancellation) {
  while (!client().PartReady(part, epoch, step)) cancellation.ThrowIfCancelled();
}

void CoordinatorCommit::Ran(const UpdatePart& part, uint64_t epoch, int64_t step,
                            CancellationToken& /*cancellation*/) {
  client().PartRan(part, epoch, step);
}

void CoordinatorCommit::Failed(uint64_t epoch, int64_t /*step*/, const Status& why) noexcept {
  try {
    client().StepFailed(epoch, why);
  } catch (const Error& e) {
    LogError("{}", e.message());
  }
}

HeldSteps::HeldSteps(CoordinatorClient& client, uint64_t cut,
                     const std::function<void()>& check_wait)
    : client_(client), cut_(cut) {
  try {
    while (!client_.HoldSteps(cut_)) check_wait();
  } catch (...) {
    ReleaseIfHeld();
    throw;
  }
}

HeldSteps::~HeldSteps() { ReleaseIfHeld(); }

void HeldSteps::Release() {
  const bool stood = client_.ReleaseSteps(cut_);
  held_ = false;
  if (stood) return;
  throw MakeError<Code::kAborted>(
      "the lease of the chief ended while it took a snapshot; the snapshot is dropped");
}

void HeldSteps::ReleaseIfHeld() noexcept {
  if (!held_) return;
  try {
    client_.ReleaseSteps(cut_);
  } catch (const std::exception& e) {
    LogWarning("{}", e.what());
  }
}

}  // namespace sextant::dist
