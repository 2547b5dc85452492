#include "sextant/testing/fault_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <vector>

#include "sextant/base/error.h"

namespace sextant {
namespace {

using ProxyClock = std::chrono::steady_clock;

constexpr size_t kChunkBytes = 64 << 10;
constexpr std::chrono::milliseconds kSentAgain(200);  // TCP's least time
constexpr size_t kMostQueued = 1 << 20;  // bytes that wait in a pipe; then the sender waits

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int NewSocket() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw Internal("no socket: errno {}", errno);
  return fd;
}

// Closing then sends RST, as a machine that has lost the connection does.
void ResetAndClose(int fd) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(fd);
}

void MakeUnblocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

}  // namespace

struct FaultProxy::Pipe {
  struct Chunk {
    ProxyClock::time_point due;
    std::string bytes;
  };
  Way way;
  int from, to;
  std::deque<Chunk> chunks = {};
  size_t queued = 0;
  bool ended = false, closed = false;       // the sender has finished; the receiver knows
  ProxyClock::time_point writable_at = {};  // by the rate
};

struct FaultProxy::Link {
  Link(int client, int server)
      : pipes{Pipe{Way::kToServer, client, server}, Pipe{Way::kToClient, server, client}} {}
  std::array<Pipe, 2> pipes;
  void Reset() const {
    for (const Pipe& pipe : pipes) ResetAndClose(pipe.from);
  }
};

FaultProxy::FaultProxy(int target_port) : target_port_(target_port) {
  listener_ = NewSocket();
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, generic, size) != 0 || listen(listener_, 128) != 0 ||
      getsockname(listener_, generic, &size) != 0)
    throw Internal("the proxy cannot listen: errno {}", errno);
  port_ = ntohs(address.sin_port);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = std::thread([this] { Loop(); });
}

FaultProxy::~FaultProxy() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  Wake();
  thread_.join();
  for (const Link& link : links_) link.Reset();
  close(listener_);
  close(wake_);
}

void FaultProxy::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
}

void FaultProxy::Set(const Faults& faults) {
  {
    const std::lock_guard lock(mutex_);
    faults_ = faults;
  }
  Wake();
}

void FaultProxy::SetTarget(int port) {
  const std::lock_guard lock(mutex_);
  target_port_ = port;
}

void FaultProxy::CutAfter(Way way, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  cut_after_[static_cast<int>(way)] = bytes;
}

void FaultProxy::Reset() {
  const std::lock_guard lock(mutex_);
  for (const Link& link : links_) link.Reset();
  cuts_ += static_cast<int>(links_.size());
  links_.clear();
  ++resets_;
  Wake();
}

int FaultProxy::cuts() const {
  const std::lock_guard lock(mutex_);
  return cuts_;
}
int FaultProxy::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}
int64_t FaultProxy::bytes(Way way) const {
  const std::lock_guard lock(mutex_);
  return bytes_[static_cast<int>(way)];
}

void FaultProxy::Accept() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = NewSocket();
  const sockaddr_in address = Loopback(target_port_);
  if (faults_.refuse ||
      connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    ResetAndClose(client);
    close(server);
    return;
  }
  MakeUnblocking(client);
  MakeUnblocking(server);
  ++connections_;
  links_.emplace_back(client, server);
}

bool FaultProxy::Readable(const Pipe& pipe) const {
  return !faults_.stall && !pipe.ended && pipe.queued < kMostQueued;
}

bool FaultProxy::Writable(const Pipe& pipe) const {
  return !faults_.stall && !pipe.closed && (!pipe.chunks.empty() || pipe.ended);
}

void FaultProxy::Read(Pipe& pipe) {
  std::string bytes(kChunkBytes, '\0');
  const ssize_t count = read(pipe.from, bytes.data(), bytes.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    pipe.ended = true;
    return;
  }
  if (faults_.black_hole == pipe.way) return;
  bytes.resize(static_cast<size_t>(count));
  pipe.queued += bytes.size();
  auto due = ProxyClock::now() + faults_.delay;
  if (std::bernoulli_distribution(faults_.lost)(random_)) due += kSentAgain;
  pipe.chunks.push_back({due, std::move(bytes)});
}

bool FaultProxy::Write(Pipe& pipe) {
  if (pipe.chunks.empty()) {
    shutdown(pipe.to, SHUT_WR);
    pipe.closed = true;
    return true;
  }
  std::string& bytes = pipe.chunks.front().bytes;
  size_t most = bytes.size();
  if (faults_.bytes_per_second > 0) {  // ten milliseconds' worth at a time
    most =
        std::min(most, static_cast<size_t>(std::max<int64_t>(1, faults_.bytes_per_second / 100)));
  }
  int64_t& cut_after = cut_after_[static_cast<int>(pipe.way)];
  if (cut_after >= 0) most = std::min(most, static_cast<size_t>(cut_after));
  if (most > 0) {
    const ssize_t count = send(pipe.to, bytes.data(), most, MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    most = static_cast<size_t>(count);
  }
  bytes_[static_cast<int>(pipe.way)] += static_cast<int64_t>(most);
  bytes.erase(0, most);
  pipe.queued -= most;
  if (bytes.empty()) pipe.chunks.pop_front();
  if (faults_.bytes_per_second > 0) {
    pipe.writable_at =
        ProxyClock::now() + std::chrono::microseconds(static_cast<int64_t>(most) * 1'000'000 /
                                                      faults_.bytes_per_second);
  }
  if (cut_after < 0) return true;
  cut_after -= static_cast<int64_t>(most);
  if (cut_after > 0) return true;
  cut_after = -1;
  ++cuts_;
  return false;
}

void FaultProxy::Loop() {
  std::unique_lock lock(mutex_);
  std::vector<pollfd> polled;
  while (!stopping_) {
    polled.assign({{wake_, POLLIN, 0}, {listener_, POLLIN, 0}});
    const ProxyClock::time_point now = ProxyClock::now();
    int wait = -1;
    // A file descriptor that is not waited for is left out: poll would report its hang-up for ever.
    for (const Link& link : links_) {
      for (const Pipe& pipe : link.pipes) {
        polled.push_back({Readable(pipe) ? pipe.from : -1, POLLIN, 0});
        bool write = Writable(pipe);
        if (write && !pipe.chunks.empty()) {
          const auto due = std::max(pipe.chunks.front().due, pipe.writable_at);
          if (due > now) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now).count();
            wait = wait < 0 ? static_cast<int>(left) : std::min(wait, static_cast<int>(left));
            write = false;
          }
        }
        polled.push_back({write ? pipe.to : -1, POLLOUT, 0});
      }
    }
    const auto first_of_links = links_.begin();
    const size_t count = links_.size();
    const int resets = resets_;
    lock.unlock();
    poll(polled.data(), polled.size(), wait);
    lock.lock();
    if (polled[0].revents != 0) {
      uint64_t times = 0;
      [[maybe_unused]] const ssize_t got = read(wake_, &times, sizeof(times));
    }
    if (resets_ != resets) continue;  // the links are gone
    size_t next = 2;
    auto link = first_of_links;
    for (size_t i = 0; i < count; ++i) {
      bool healthy = true, over = true;
      for (Pipe& pipe : link->pipes) {
        if (polled[next++].revents != 0) Read(pipe);
        if (polled[next++].revents != 0) healthy = healthy && Write(pipe);
        over = over && pipe.closed;
      }
      if (!healthy) {
        link->Reset();
      } else if (over) {
        for (const Pipe& pipe : link->pipes) close(pipe.from);
      }
      link = healthy && !over ? std::next(link) : links_.erase(link);
    }
    if (polled[1].revents != 0) Accept();
  }
}

}  // namespace sextant
