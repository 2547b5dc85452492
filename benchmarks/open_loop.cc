#include "benchmarks/open_loop.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <random>
#include <thread>

#include "benchmarks/serving_load.h"
#include "sextant/base/error.h"
#include "sextant/base/thread_scheduling.h"

namespace sextant::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Connection {
  int socket = -1;
  Clock::time_point due, sent;
  std::string answer;
};

// Whether the head and the body that it announces are there.
bool IsWhole(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const size_t at = answer.find("Content-Length: ");
  const size_t length = at < end ? std::stoul(answer.substr(at + 16, 12)) : 0;
  return answer.size() >= end + 4 + length;
}

class Loop {
 public:
  Loop(int port, const std::string& request, const OpenLoopOptions& options)
      : request_(request),
        options_(options),
        poll_(::epoll_create1(0)),
        gaps_(options.rate),
        random_(options.seed) {
    connections_.resize(options.connections);
    for (Connection& connection : connections_) {
      connection.socket = Connect(port);
      epoll_event event = {.events = EPOLLIN, .data = {.ptr = &connection}};
      ::epoll_ctl(poll_, EPOLL_CTL_ADD, connection.socket, &event);
      idle_.push_back(&connection);
    }
  }
  ~Loop() {
    for (const Connection& connection : connections_) ::close(connection.socket);
    ::close(poll_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  OpenLoopReport Run() {
    const auto begun = Clock::now();
    const auto end = begun + InClock(options_.seconds);
    auto due = begun + InClock(gaps_(random_));
    for (auto now = begun; now < end || idle_.size() < connections_.size(); now = Clock::now()) {
      for (; now < end && due <= now && !idle_.empty(); due += InClock(gaps_(random_))) Send(due);
      Receive(now >= end || idle_.empty() ? std::chrono::seconds(10)
                                          : std::min(due, end) - Clock::now());
    }
    report_.seconds = options_.seconds;
    std::ranges::sort(report_.due_ms);
    std::ranges::sort(report_.sent_ms);
    return std::move(report_);
  }

 private:
  static Clock::duration InClock(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  void Send(Clock::time_point due) {
    Connection& connection = *idle_.back();
    idle_.pop_back();
    connection.due = due;
    connection.sent = Clock::now();
    for (size_t sent = 0; sent < request_.size();) {
      const ssize_t size =
          ::send(connection.socket, request_.data() + sent, request_.size() - sent, MSG_NOSIGNAL);
      if (size <= 0) throw MakeError<Code::kUnavailable>("a request was not sent");
      sent += static_cast<size_t>(size);
    }
  }

  // What has come within the time.
  void Receive(Clock::duration limit) {
    const int64_t ns = std::max<int64_t>(0, limit.count());
    const timespec wait = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    epoll_event events[64];
    const int count = ::epoll_pwait2(poll_, events, 64, &wait, nullptr);
    for (int i = 0; i < count; ++i) {
      auto& connection = *static_cast<Connection*>(events[i].data.ptr);
      char bytes[65536];
      const ssize_t size = ::recv(connection.socket, bytes, sizeof bytes, 0);
      if (size <= 0) throw MakeError<Code::kUnavailable>("no answer");
      connection.answer.append(bytes, static_cast<size_t>(size));
      if (IsWhole(connection.answer)) Answered(connection);
    }
  }

  void Answered(Connection& connection) {
    const auto now = Clock::now();
    const auto ms = [&](Clock::time_point since) {
      return std::chrono::duration<double, std::milli>(now - since).count();
    };
    if (connection.answer.starts_with("HTTP/1.1 200")) {
      report_.due_ms.push_back(ms(connection.due));
      report_.sent_ms.push_back(ms(connection.sent));
    } else if (connection.answer.starts_with("HTTP/1.1 503")) {
      ++report_.refused;
    } else {
      throw Error(Code::kInternal, connection.answer.substr(0, 500));
    }
    connection.answer.clear();
    idle_.push_back(&connection);
  }

  const std::string& request_;
  const OpenLoopOptions options_;
  const int poll_;
  std::exponential_distribution<double> gaps_;
  std::mt19937_64 random_;
  std::vector<Connection> connections_;
  std::vector<Connection*> idle_;
  OpenLoopReport report_;
};

}  // namespace

OpenLoopReport RunOpenLoop(int port, const std::string& request, const OpenLoopOptions& options) {
  OpenLoopReport report;
  std::exception_ptr error;
  std::thread([&] {
    RunSoonAfterWaking();
    try {
      report = Loop(port, request, options).Run();
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  return report;
}

double PercentileOf(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

}  // namespace sextant::bench
