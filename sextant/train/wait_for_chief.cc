#include "sextant/train/wait_for_chief.h"

#include <algorithm>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/graph/graph.h"
#include "sextant/runtime/session.h"

namespace sextant::train {

void WaitForChief(Session& session, const std::vector<Output>& initialized,
                  std::chrono::seconds longest) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + longest;
  auto pause = std::chrono::milliseconds(20), since_report = std::chrono::milliseconds(0);
  for (;;) {
    std::string missing;
    const std::vector<Tensor> ready = session.Run(initialized);
    for (size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].scalar<bool>()) continue;
      missing += (missing.empty() ? "" : ", ") + initialized[i].node()->input(0).node()->name();
    }
    if (missing.empty()) return;
    if (Clock::now() >= end) {
      throw MakeError<Code::kDeadlineExceeded>(
          "the chief has not initialised these variables after {} s: {}", longest.count(), missing);
    }
    if (since_report.count() == 0)
      LogInfo("Waiting for model to be ready. The variables {} are not initialised yet.", missing);
    SleepUntil(Clock::now() + pause, CancellationScope::Current());
    since_report += pause;
    if (since_report > std::chrono::seconds(10)) since_report = std::chrono::milliseconds(0);
    pause = std::min(pause * 2, std::chrono::milliseconds(1000));
  }
}

}  // namespace sextant::train
