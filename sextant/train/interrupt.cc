#include "sextant/train/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "sextant/base/interrupt.h"
#include "sextant/base/logging.h"

namespace sextant::train {
namespace {

class StopOnInterruptHook : public Hook {
 public:
  void AfterRun(RunContext& run) override {
    if (Interrupted()) run.RequestStop();
  }
};

class ThrowOnInterruptHook : public Hook {
 public:
  void BeforeRun(RunContext&) override { ThrowIfInterrupted(); }
};

}  // namespace

HookRef StopOnInterrupt() { return std::make_shared<StopOnInterruptHook>(); }
HookRef ThrowOnInterrupt() { return std::make_shared<ThrowOnInterruptHook>(); }

void ExitInterrupted(int64_t step, std::string_view how_to_go_on) {
  const int signal = InterruptSignal();
  LogWarning("Interrupted by {} at step {}: {}", signal == SIGINT ? "SIGINT" : "SIGTERM", step,
             how_to_go_on);
  std::fflush(nullptr);
  _exit(ExitCodeOfSignal(signal));
}

}  // namespace sextant::train
