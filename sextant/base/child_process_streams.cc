// What passes through the pipes of a ChildProcess. Writes to a child that has closed its end raise
// SIGPIPE unless the signal is blocked: it is blocked on this thread for the time of the write, and
// one that came is taken, so that the process need not ignore it as a whole.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sextant/base/child_process.h"
#include "sextant/base/error.h"

namespace sextant {
namespace {

using Milliseconds = std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

class PipeSignalBlock {
 public:
  PipeSignalBlock() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalBlock() {
    if (sigismember(&before_, SIGPIPE) == 1) return;
    const timespec now = {0, 0};
    while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalBlock(const PipeSignalBlock&) = delete;
  PipeSignalBlock& operator=(const PipeSignalBlock&) = delete;

 private:
  sigset_t pipe_, before_;
};

// Milliseconds until then, as poll takes them.
int PollTime(SteadyClock::time_point deadline) {
  const auto left = std::chrono::ceil<Milliseconds>(deadline - SteadyClock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
}

// Appends what is there to read. False at the end of the stream.
bool ReadSome(int fd, std::string* text) {
  std::array<char, 65536> part;
  for (;;) {
    const ssize_t count = read(fd, part.data(), part.size());
    if (count > 0) {
      text->append(part.data(), static_cast<size_t>(count));
      return true;
    }
    if (count < 0 && errno == EINTR) continue;
    return count < 0 && errno == EAGAIN;
  }
}

}  // namespace

bool ChildProcess::Write(std::string_view bytes) {
  const PipeSignalBlock block;
  while (!bytes.empty()) {
    const ssize_t count = write(input_fd_, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd look = {input_fd_, POLLOUT, 0};
      poll(&look, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void ChildProcess::CloseInput() {
  if (input_fd_ >= 0) close(input_fd_);
  input_fd_ = -1;
}

std::optional<std::string> ChildProcess::ReadLine(Milliseconds time) {
  const auto deadline = SteadyClock::now() + time;
  for (;;) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    if (output_ended_) {
      if (unread_.empty()) return {};
      return std::exchange(unread_, {});
    }
    pollfd look = {output_fd_, POLLIN, 0};
    const int ready = poll(&look, 1, PollTime(deadline));
    if (ready > 0) {
      output_ended_ = !ReadSome(output_fd_, &unread_);
    } else if (ready == 0 && SteadyClock::now() >= deadline) {
      return {};
    }
  }
}

ProcessResult RunProcess(const ChildOptions& options, std::string_view input,
                         std::optional<Milliseconds> time) {
  ChildOptions piped = options;
  if (!input.empty()) piped.input = Stream::kPipe;
  if (piped.output == Stream::kInherit) piped.output = Stream::kPipe;
  if (piped.error == Stream::kInherit) piped.error = Stream::kPipe;
  ChildProcess child(piped);
  ProcessResult result;
  const auto deadline = time ? SteadyClock::now() + *time : SteadyClock::time_point::max();
  if (child.input_fd_ >= 0) fcntl(child.input_fd_, F_SETFL, O_NONBLOCK);

  // Both outputs are read while the input is written, so that neither side waits for the other.
  const PipeSignalBlock block;
  bool output_open = child.output_fd_ >= 0, error_open = child.error_fd_ >= 0;
  while (output_open || error_open || child.input_fd_ >= 0) {
    std::array<pollfd, 3> look = {pollfd{child.input_fd_, POLLOUT, 0},
                                  pollfd{output_open ? child.output_fd_ : -1, POLLIN, 0},
                                  pollfd{error_open ? child.error_fd_ : -1, POLLIN, 0}};
    const int ready = poll(look.data(), look.size(), time ? PollTime(deadline) : -1);
    if (ready == 0 && SteadyClock::now() >= deadline) break;
    if (ready <= 0) continue;
    if (look[0].revents != 0) {
      const ssize_t count = write(child.input_fd_, input.data(), input.size());
      if (count > 0) input.remove_prefix(static_cast<size_t>(count));
      const bool failed = count < 0 && errno != EAGAIN && errno != EINTR;
      if (failed || input.empty()) child.CloseInput();
    }
    if (look[1].revents != 0) output_open = ReadSome(child.output_fd_, &result.output);
    if (look[2].revents != 0) error_open = ReadSome(child.error_fd_, &result.error);
  }
  const auto status =
      time ? child.WaitFor(std::max(Milliseconds(0),
                                    std::chrono::ceil<Milliseconds>(deadline - SteadyClock::now())))
           : std::optional(child.Wait());
  result.timed_out = !status;
  if (!status) child.Signal(SIGKILL);
  result.status = child.Wait();
  return result;
}

}  // namespace sextant
