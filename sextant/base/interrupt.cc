#include "sextant/base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "sextant/base/error.h"

namespace sextant {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

// What the handler touches.
std::atomic<int> scopes{0};
std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free);

void OnSignal(int signal) {
  int none = 0;
  if (scopes.load() > 0 && received.compare_exchange_strong(none, signal)) return;
  _exit(ExitCodeOfSignal(signal));
}

// Handlers from before the first scope.
struct Handlers {
  std::mutex mutex;
  struct sigaction before[2] = {};
  bool ours[2] = {};
  bool for_ever = false;
};

Handlers& TheHandlers() {
  static Handlers& handlers = *new Handlers;  // signals may come while statics are destroyed
  return handlers;
}

void Set(Handlers& handlers) {
  for (int i = 0; i < 2; ++i) {
    sigaction(kSignals[i], nullptr, &handlers.before[i]);
    handlers.ours[i] =
        !(handlers.before[i].sa_flags & SA_SIGINFO) && handlers.before[i].sa_handler == SIG_DFL;
    if (!handlers.ours[i]) continue;
    struct sigaction action = {};
    action.sa_handler = OnSignal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(kSignals[i], &action, nullptr);
  }
}

void PutBack(Handlers& handlers) {
  for (int i = 0; i < 2; ++i) {
    if (handlers.ours[i]) sigaction(kSignals[i], &handlers.before[i], nullptr);
  }
}

}  // namespace

InterruptScope::InterruptScope() {
  Handlers& handlers = TheHandlers();
  const std::lock_guard lock(handlers.mutex);
  if (scopes.load() == 0) {
    received.store(0);
    if (!handlers.for_ever) Set(handlers);
  }
  scopes.fetch_add(1);
}

InterruptScope::~InterruptScope() {
  Handlers& handlers = TheHandlers();
  const std::lock_guard lock(handlers.mutex);
  if (scopes.fetch_sub(1) == 1 && !handlers.for_ever) PutBack(handlers);
}

void InstallInterruptHandlers() {
  Handlers& handlers = TheHandlers();
  const std::lock_guard lock(handlers.mutex);
  if (handlers.for_ever) return;
  if (scopes.load() == 0) Set(handlers);
  handlers.for_ever = true;
}

int InterruptSignal() { return received.load(); }

void ThrowIfInterrupted() {
  if (Interrupted()) throw Error(Code::kCancelled, "interrupted");
}

}  // namespace sextant
