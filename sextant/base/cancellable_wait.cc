#include "sextant/base/cancellable_wait.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <system_error>

#include "sextant/base/current_cancellation.h"
#include "sextant/base/error.h"

namespace sextant {
namespace {

// A descriptor that becomes readable when somebody raises it.
class Event {
 public:
  Event() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ >= 0) return;
    throw MakeError<Code::kResourceExhausted>("cannot make an event to wait for: {}",
                                              std::generic_category().message(errno));
  }
  ~Event() { close(descriptor_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  int descriptor() const { return descriptor_; }
  void Raise() const { eventfd_write(descriptor_, 1); }

 private:
  const int descriptor_;
};

void Poll(pollfd* descriptors, nfds_t count) {
  while (poll(descriptors, count, -1) < 0) {
    if (errno == EINTR) continue;
    throw MakeError<Code::kUnknown>("cannot wait for input: {}",
                                    std::generic_category().message(errno));
  }
}

}  // namespace

thread_local constinit CancellationToken* CancellationScope::current_ = nullptr;

CancellationToken* CurrentCancellation() { return CancellationScope::Current(); }

void SleepUntil(std::chrono::steady_clock::time_point time, CancellationToken* token) {
  std::mutex mutex;
  std::condition_variable woken;
  bool cancelled = false;
  CancellationToken::Registration registration;
  if (token != nullptr) {
    registration = token->OnCancel([&] {
      const std::lock_guard lock(mutex);
      cancelled = true;
      woken.notify_one();
    });
  }
  {
    std::unique_lock lock(mutex);
    woken.wait_until(lock, time, [&] { return cancelled; });
  }
  if (token != nullptr) token->ThrowIfCancelled();
}

void WaitReadable(int descriptor) {
  CancellationToken* const token = CancellationScope::Current();
  if (token == nullptr) {
    pollfd readable = {descriptor, POLLIN, 0};
    Poll(&readable, 1);
    return;
  }
  token->ThrowIfCancelled();
  pollfd ready = {descriptor, POLLIN, 0};
  if (poll(&ready, 1, 0) > 0) return;
  const Event cancelled;
  const auto registration = token->OnCancel([&] { cancelled.Raise(); });
  pollfd either[] = {{descriptor, POLLIN, 0}, {cancelled.descriptor(), POLLIN, 0}};
  Poll(either, 2);
  token->ThrowIfCancelled();
}

}  // namespace sextant
