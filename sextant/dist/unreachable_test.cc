// What is said of addresses where no task answers.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "sextant/base/free_ports.h"
#include "sextant/dist/grpc_target.h"
#include "sextant/dist/task_status.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

using std::chrono::milliseconds;

// Says the same to everybody who connects, and listens until they go. Without words it is silent:
// the system takes connections that nobody accepts.
class RawServer {
 public:
  explicit RawServer(std::string words) : words_(std::move(words)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener_, any, size), 0);
    EXPECT_EQ(listen(listener_, 50), 0);
    EXPECT_EQ(getsockname(listener_, any, &size), 0);
    port_ = ntohs(address.sin_port);
    if (!words_.empty()) thread_ = std::thread([this] { Serve(); });
  }
  ~RawServer() {
    shutdown(listener_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    close(listener_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  std::string address() const { return fmt::format("127.0.0.1:{}", port_); }

 private:
  void Serve() {
    for (int client = -1; (client = accept(listener_, nullptr, nullptr)) >= 0; close(client)) {
      send(client, words_.data(), words_.size(), MSG_NOSIGNAL);
      shutdown(client, SHUT_WR);
      for (char rest[1000]; recv(client, rest, sizeof(rest), 0) > 0;) continue;
    }
  }

  const std::string words_;
  const int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
  std::thread thread_;
};

class UnreachableTest : public testing::Test {
 protected:
  UnreachableTest() { RegisterGrpcTargets(); }
  // The error of a session that has half a second to be opened.
  static Status Open(const std::string& address) {
    const Graph graph;
    return StatusOf(
        [&] { Session(graph, {.target = "grpc://" + address, .deadline = milliseconds(500)}); });
  }
  static std::string Late(const std::string& address, const std::string& why) {
    return "deadline of 0.5 s exceeded: no answer yet from " + address + why;
  }
};

TEST_F(UnreachableTest, SessionsSayWhyNobodyAnswers) {
  const RawServer http("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
      garbage(std::string(5000, '\xa5')), silent("");
  const std::string nobody = fmt::format("127.0.0.1:{}", FreePorts(1)[0]),
                    nameless = "no.such.host.invalid:2500";
  const std::string stranger = " (what listens there does not speak gRPC)";
  for (const auto& [address, why] : std::vector<std::pair<std::string, std::string>>{
           {nobody, " (connection refused)"},
           {nameless, " (its name cannot be resolved)"},
           {http.address(), stranger},
           {garbage.address(), stranger},
           {silent.address(), ""}}) {
    const Status status = Open(address);
    EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
    EXPECT_EQ(status.message(), Late(address, why));
  }
}

TEST_F(UnreachableTest, RunsSayWhyATaskDoesNotAnswer) {
  TestCluster cluster(2);
  Graph graph;
  const GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, {}, "x");
  Output y;
  {
    const DeviceScope on("/job:ps/task:1");
    y = Square(x);
  }
  // Through a task of this process, and as a client of it.
  const std::vector<std::string> targets = {cluster.server(0).target(),
                                            fmt::format("grpc://localhost:{}", cluster.port(0))};
  const auto run = [&](const std::string& target, milliseconds deadline) {
    Session session(graph, {.target = target});
    return session.Run({{x, Tensor(3.0f)}}, y, {.deadline = deadline}).scalar<float>();
  };
  cluster.Stop(1);
  for (const std::string& target : targets) {
    const Status status = StatusOf([&] { run(target, milliseconds(500)); });
    EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
    EXPECT_EQ(status.message(), Late("/job:ps/task:1", " (connection refused)"));
  }
  cluster.Start(1);
  for (const std::string& target : targets) EXPECT_EQ(run(target, milliseconds(60'000)), 9.0f);
}

TEST_F(UnreachableTest, StatusIsASentence) {
  const RawServer http("HTTP/1.1 400 Bad Request\r\n\r\n"), silent("");
  Status status = StatusOf([&] { AskStatus(silent.address(), {}, milliseconds(200)); });
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.message(),
            silent.address() +
                " has not answered within 0.2 s: is it a task of a cluster, and does it run?");
  status = StatusOf([&] { AskStatus(http.address(), {}); });
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.message(), http.address() + ": what listens there does not speak gRPC");
}

}  // namespace
}  // namespace sextant::dist
