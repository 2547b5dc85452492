// Interruptible: while it lives, the first SIGINT, SIGTERM or SIGHUP ends the work of this thread
// with CANCELLED, also while it waits for bytes of a pipe.
#pragma once

#include <memory>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/interrupt.h"

namespace sextant::cli {

class Interruptible {
 private:
  const InterruptScope signals_;
  const std::shared_ptr<CancellationToken> token_ = signals_.token();
  const CancellationScope waits_{token_.get()};
};

}  // namespace sextant::cli
