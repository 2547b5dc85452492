#include "sextant/dist/summed_calls.h"

#include "sextant/base/error.h"
#include "sextant/base/logging.h"

namespace sextant::dist {

SummedCalls::~SummedCalls() { stopped_.Cancel(Status(Code::kCancelled, "the server is stopping")); }

bool SummedCalls::Contribute(const Fragment& fragment, uint64_t epoch, const StepToken& token,
                             std::vector<Tensor> inputs) {
  const Fragment::Sum& sum = fragment.sum.value();
  if (sum.part < 0 || sum.part >= sum.num_parts || inputs.size() != sum.gradient.size())
    throw InvalidArgument("a malformed contribution to a synchronous update");
  const UpdatePart part{.part = sum.part, .num_parts = sum.num_parts, .stage = sum.stage};
  std::vector<std::vector<Tensor>> contributions;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = parts_.find(sum.part); found != parts_.end()) {
      const Part& before = found->second;
      if (epoch < before.epoch) {
        throw MakeError<Code::kAborted>("a contribution of epoch {} came in epoch {}", epoch,
                                        before.epoch);
      }
      // A step that nobody has contributed to may be that of another update.
      const bool other_update = sum.key != before.key && before.sum.num_contributions() == 0 &&
                                token.step == before.sum.step();
      if (epoch > before.epoch || other_update) parts_.erase(found);
    }
    Part& state =
        parts_.try_emplace(sum.part, Part{epoch, sum.key, GradientSum(sum.replicas, token.step)})
            .first->second;
    if (sum.key != state.key) {
      throw InvalidArgument(
          "the update of {} in step {} is not the one that another worker contributes to: all "
          "workers must build the same graph and run the same training operation",
          fragment.variables.empty() ? "no variable" : fragment.variables[0], token.step);
    }
    switch (state.sum.Add(token.step, token.number, std::move(inputs))) {
      case GradientSum::Outcome::kStale:
        ++stale_;
        return true;
      case GradientSum::Outcome::kCounted:
      case GradientSum::Outcome::kDuplicate:
        return false;
      case GradientSum::Outcome::kReady:
        contributions = state.sum.Take();
    }
  }
  const bool taken = threads_.Run(
      [this, part, epoch, step = token.step, fingerprint = fragment.fingerprint,
       all = std::move(contributions)] { Commit(part, epoch, step, fingerprint, all); });
  if (!taken) commit_.Failed(epoch, token.step, TooManyCalls());
  return false;
}

void SummedCalls::Commit(const UpdatePart& part, uint64_t epoch, int64_t step, uint64_t fingerprint,
                         const std::vector<std::vector<Tensor>>& contributions) {
  try {
    commit_.Ready(part, epoch, step, stopped_);
    run_(epoch, fingerprint, contributions, stopped_);
    commit_.Ran(part, epoch, step, stopped_);
  } catch (...) {
    const Status status = CurrentStatus();
    const bool over = stopped_.cancelled() || status.code() == Code::kCancelled;
    if (over || status.code() == Code::kAborted) return;  // nobody waits for it
    LogError("the update of step {} failed: {}", step, status.message());
    commit_.Failed(epoch, step, status);
  }
}

int64_t SummedCalls::num_stale() const {
  const std::lock_guard lock(mutex_);
  return stale_;
}

}  // namespace sextant::dist
