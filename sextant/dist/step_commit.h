// StepCommit: how the parts of a synchronous update agree to run: all of them once in a step, by
// stages. The coordinator knows (step_tokens.h); servers ask it.
#pragma once

#include <cstdint>

#include "sextant/base/cancellation.h"
#include "sextant/base/error.h"
#include "sextant/dist/step_tokens.h"

namespace sextant::dist {

// Thread-safe.
class StepCommit {
 public:
  virtual ~StepCommit() = default;
  // The part has all contributions to the step. Waits until it is to run: all parts have, and those
  // of earlier stages have run. Throws ABORTED when the epoch has ended.
  virtual void Ready(const UpdatePart& part, uint64_t epoch, int64_t step,
                     CancellationToken& cancellation) = 0;
  virtual void Ran(const UpdatePart& part, uint64_t epoch, int64_t step,
                   CancellationToken& cancellation) = 0;
  // The update cannot be run: the training ends with this error.
  virtual void Failed(uint64_t epoch, int64_t step, const Status& why) noexcept = 0;
};

}  // namespace sextant::dist
