#include "sextant/base/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>

#include "sextant/base/cancellation.h"
#include "sextant/base/error.h"

namespace sextant {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kCount = 3;

// What the handler touches.
std::atomic<int> scopes{0};
std::atomic<int> received{0};
std::atomic<int> wake{-1};  // written to, so that the watching thread cancels the token
std::atomic<pid_t> watched_process{0};
static_assert(std::atomic<int>::is_always_lock_free);

void OnSignal(int signal) {
  const int before = errno;
  int none = 0;
  if (scopes.load() > 0) {
    if (received.compare_exchange_strong(none, signal)) {
      // A forked child has the descriptor too, but not the thread.
      if (wake.load() >= 0 && getpid() == watched_process.load()) {
        static_cast<void>(!write(wake.load(), "", 1));
      }
      errno = before;
      return;
    }
    // A terminal that closes sends SIGHUP twice, and service managers send it after SIGTERM:
    // nobody insists by that.
    if (signal == SIGHUP) return;
  }
  _exit(ExitCodeOfSignal(signal));
}

const char* NameOf(int signal) {
  return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

// Handlers from before the first scope, and the token of the present ones.
struct Handlers {
  std::mutex mutex;
  struct sigaction before[kCount] = {};
  bool ours[kCount] = {};
  bool for_ever = false;
  std::shared_ptr<CancellationToken> token;  // null until asked for
};

Handlers& TheHandlers() {
  static Handlers& handlers = *new Handlers;  // signals may come while statics are destroyed
  return handlers;
}

void Set(Handlers& handlers) {
  for (int i = 0; i < kCount; ++i) {
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
  for (int i = 0; i < kCount; ++i) {
    if (handlers.ours[i]) sigaction(kSignals[i], &handlers.before[i], nullptr);
  }
}

void CancelToken() {
  std::shared_ptr<CancellationToken> token;
  {
    const std::lock_guard lock(TheHandlers().mutex);
    token = TheHandlers().token;
  }
  // Between a scope's end and the next one's begin the signal may have been forgotten.
  const int signal = received.load();
  if (!token || signal == 0) return;
  token->Cancel(Status(Code::kCancelled, fmt::format("interrupted by {}", NameOf(signal))));
}

// A handler may do next to nothing: a thread does the rest. REQUIRES: the lock is held.
void WatchSignals() {
  if (watched_process.load() == getpid()) return;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) {
    throw MakeError<Code::kResourceExhausted>("cannot make a pipe for signals: {}",
                                              std::generic_category().message(errno));
  }
  std::thread([read_end = ends[0]] {
    for (char byte;;) {
      const ssize_t got = read(read_end, &byte, 1);
      if (got == 1) CancelToken();
      if (got == 0 || (got < 0 && errno != EINTR)) return;
    }
  }).detach();
  watched_process.store(getpid());
  wake.store(ends[1]);
}

}  // namespace

InterruptScope::InterruptScope() {
  Handlers& handlers = TheHandlers();
  const std::lock_guard lock(handlers.mutex);
  if (scopes.load() == 0) {
    received.store(0);
    handlers.token = nullptr;
    if (!handlers.for_ever) Set(handlers);
  }
  scopes.fetch_add(1);
}

InterruptScope::~InterruptScope() {
  Handlers& handlers = TheHandlers();
  const std::lock_guard lock(handlers.mutex);
  if (scopes.fetch_sub(1) == 1 && !handlers.for_ever) PutBack(handlers);
}

std::shared_ptr<CancellationToken> InterruptScope::token() const {
  Handlers& handlers = TheHandlers();
  std::shared_ptr<CancellationToken> token;
  {
    const std::lock_guard lock(handlers.mutex);
    WatchSignals();
    if (!handlers.token) handlers.token = std::make_shared<CancellationToken>();
    token = handlers.token;
  }
  if (Interrupted()) CancelToken();  // it came before the thread was there
  return token;
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
