#include "sextant/cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "sextant/base/error.h"
#include "sextant/cli/command.h"

namespace sextant::cli {
namespace {

std::atomic<int> scopes{0};
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void OnInterrupt(int) {
  if (scopes.load() == 0 || interrupted.exchange(true)) _exit(kExitInterrupted);
}

}  // namespace

void InstallInterruptHandler() {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

InterruptScope::InterruptScope() { scopes.fetch_add(1); }
InterruptScope::~InterruptScope() { scopes.fetch_sub(1); }

bool Interrupted() { return interrupted.load(); }

void ThrowIfInterrupted() {
  if (Interrupted()) throw Error(Code::kCancelled, "interrupted");
}

}  // namespace sextant::cli
