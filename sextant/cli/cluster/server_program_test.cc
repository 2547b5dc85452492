// `sextant server` and `sextant status` as programs.
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "sextant/base/child_process.h"
#include "sextant/base/free_ports.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/device/device.h"
#include "sextant/dist/grpc_target.h"
#include "sextant/sextant.h"
#include "sextant/testing/certificates.h"
#include "sextant/testing/status_of.h"

namespace sextant::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Environment = std::vector<std::pair<std::string, std::optional<std::string>>>;

constexpr char kProgram[] = SEXTANT_BINARY_DIR "/bin/sextant";

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A server of its own process.
class ServerProcess {
 public:
  explicit ServerProcess(std::vector<std::string> options, Environment environment = {})
      : child_([&] {
          std::vector<std::string> words = {kProgram, "server"};
          words.insert(words.end(), options.begin(), options.end());
          environment.emplace_back("SEXTANT_LOG_LEVEL", std::nullopt);
          return ChildOptions{.arguments = words,
                              .environment = environment,
                              .output = Stream::kPipe,
                              .error = Stream::kMerge};
        }()) {
    const std::string started = "Started server with target: ";
    while (const std::optional<std::string> line = child_.ReadLine(seconds(60))) {
      log_ += *line + "\n";
      if (const size_t at = line->find(started); at != std::string::npos) {
        target_ = line->substr(at + started.size());
        break;
      }
    }
    EXPECT_FALSE(target_.empty()) << log_;
  }

  const std::string& target() const { return target_; }
  const std::string& log() const { return log_; }
  ChildProcess& child() { return child_; }

 private:
  ChildProcess child_;
  std::string target_, log_;
};

ProcessResult RunSextant(std::vector<std::string> words, const Environment& environment = {}) {
  words.insert(words.begin(), kProgram);
  return RunProcess({.arguments = words, .environment = environment}, "", seconds(60));
}

class ServerProgramTest : public testing::Test {
 protected:
  ServerProgramTest() { dist::RegisterGrpcTargets(); }
  Graph graph_;
  const GraphScope use_{graph_};
};

TEST_F(ServerProgramTest, ServesClientsAndEndsWithTheSignal) {
  ServerProcess server(
      {"--cluster_spec", "local|127.0.0.1:0", "--job_name", "local", "--task_id", "0"});
  EXPECT_TRUE(Contains(server.log(), "Peer local 1 {127.0.0.1:0}")) << server.log();
  EXPECT_TRUE(Contains(server.log(), "Initialize GrpcChannelCache for job local -> {0 -> "))
      << server.log();
  const Output text = Const(Tensor("Hello, distributed!"));
  {
    Session session(graph_, {.target = server.target()});
    EXPECT_EQ(session.Run(text).scalar<std::string>(), "Hello, distributed!");
    const ProcessResult status = RunSextant({"status", server.target(), "--json"});
    ASSERT_EQ(status.status.code, 0) << status.error;
    const auto json = nlohmann::json::parse(status.output);
    EXPECT_EQ(json["task"], "/job:local/replica:0/task:0");
    EXPECT_EQ(json["sessions"], 1);
    ASSERT_EQ(json["client_sessions"].size(), 1);
    EXPECT_GE(json["client_sessions"][0]["age_seconds"], 0.0);
    EXPECT_EQ(json["client_sessions"][0]["running"], 0);
    EXPECT_TRUE(Contains(RunSextant({"status", server.target()}).output, "sessions 1"));
  }
  server.child().Signal(SIGTERM);
  EXPECT_EQ(server.child().Wait().code, 143);
  const ProcessResult status = RunSextant({"status", server.target()});
  EXPECT_EQ(status.status.code, 1);
  EXPECT_TRUE(Contains(status.error, "connection refused")) << status.error;
}

TEST_F(ServerProgramTest, WrongCommandLinesExitWithTwo) {
  const std::string spec = "worker|a:2500;b:2500";
  for (const auto& [words, why] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--cluster_spec", "worker", "--job_name", "worker"}, "worker"},
           {{"--cluster_spec", spec, "--job_name", "ps"}, "ps"},
           {{"--cluster_spec", spec, "--job_name", "worker", "--task_id", "2"}, "2"},
           {{"--cluster_spec", spec, "--job_name", "worker", "--task_id", "0", "--task_index", "1"},
            "--task_index"},
           {{"--cluster_spec", spec}, "--job_name"},
           {{"--cluster_spec", spec, "--job_name", "worker", "--bogus"}, "--bogus"},
           {{"--job_name", "worker"}, "--cluster_spec"}}) {
    std::vector<std::string> all = {"server"};
    all.insert(all.end(), words.begin(), words.end());
    const ProcessResult result = RunSextant(all);
    EXPECT_EQ(result.status.code, 2) << result.error;
    EXPECT_TRUE(Contains(result.error, why)) << result.error;
    EXPECT_TRUE(Contains(result.error, "\nThe grammar of --cluster_spec: <job>|<host:port>;"))
        << result.error;
  }
  EXPECT_EQ(RunSextant({"status", "localhost:1"}).status.code, 2);
}

// A server never comes up less secure than it was told to be.
TEST_F(ServerProgramTest, IncompleteCredentialsAndMissingFilesExitWithTwo) {
  const TemporaryDirectory directory;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(directory.path() + "/" + name) << text;
    return directory.path() + "/" + name;
  };
  const CertificateAuthority authority("test");
  const CertificateAuthority::Pair pair = authority.Issue("server");
  const std::string ca = write("ca.pem", authority.certificate()), key = write("key.pem", pair.key),
                    cert = write("cert.pem", pair.certificate), missing = "/no/such/file";
  const std::string one = "w|0.0.0.0:0", two = "w|0.0.0.0:0;b:2500";
  struct Wrong {
    std::string spec;
    std::vector<std::string> words;
    Environment environment;
    std::string why;
  };
  for (const Wrong& wrong : std::vector<Wrong>{
           {one, {}, {{"SEXTANT_TLS_CA", ca}}, "a CA file but no certificate"},
           {one, {"--tls_ca", ca, "--insecure"}, {}, "a CA file but no certificate"},
           {one, {"--tls_clients"}, {}, "needs one of its own"},
           {one, {"--tls_clients", "--tls_cert", cert, "--tls_key", key}, {}, "needs a CA file"},
           {one, {"--tls_cert", cert}, {}, "a certificate needs its key"},
           {one, {"--tls_key", key}, {}, "a certificate needs its key"},
           {two, {"--tls_cert", cert, "--tls_key", key}, {}, "TLS needs a CA file"},
           {one, {"--token_file", missing}, {}, missing},
           {one, {"--tls_ca", missing, "--tls_cert", cert, "--tls_key", key}, {}, missing},
           {one, {"--allow_files", missing}, {}, "--allow_files: " + missing},
           {one, {"--allow_files", ca}, {}, "--allow_files: " + ca + " is no directory"}}) {
    std::vector<std::string> words = {"server", "--cluster_spec", wrong.spec, "--job_name", "w"};
    words.insert(words.end(), wrong.words.begin(), wrong.words.end());
    const ProcessResult result = RunSextant(words, wrong.environment);
    EXPECT_EQ(result.status.code, 2) << wrong.why << ": " << result.error;
    EXPECT_TRUE(Contains(result.error, wrong.why)) << result.error;
    EXPECT_TRUE(Contains(result.error, "\nThe grammar of --cluster_spec: ")) << result.error;
  }
  const ServerProcess alone({"--cluster_spec", one, "--job_name", "w", "--tls_cert", cert,
                             "--tls_key", key});  // nobody else is to be called
  EXPECT_FALSE(Contains(alone.log(), "127.0.0.1 only")) << alone.log();
}

TEST_F(ServerProgramTest, TakesJsonAndTaskIndex) {
  ServerProcess server({"--cluster_spec", R"({"ps": ["127.0.0.1:1", "127.0.0.1:0"]})", "--job_name",
                        "ps", "--task_index", "1"});
  Session session(graph_, {.target = server.target()});
  EXPECT_EQ(session.devices()[0]->name(), "/job:ps/replica:0/task:1/device:CPU:0");
}

TEST_F(ServerProgramTest, StrangersOfOtherMachinesAreKeptOut) {
  const std::vector<std::string> options = {"--cluster_spec", "local|0.0.0.0:0", "--job_name",
                                            "local"};
  // All of 127.0.0.0/8 is this machine.
  ServerProcess local({"--cluster_spec", "local|127.0.0.2:0", "--job_name", "local"});
  EXPECT_TRUE(local.target().starts_with("grpc://127.0.0.2:")) << local.target();
  EXPECT_FALSE(Contains(local.log(), "127.0.0.1 only")) << local.log();
  EXPECT_EQ(RunSextant({"status", local.target()}).status.code, 0);
  ServerProcess alone(options);
  EXPECT_TRUE(Contains(alone.log(), "listening on 127.0.0.1 only")) << alone.log();
  std::vector<std::string> open = options;
  open.push_back("--insecure");
  EXPECT_FALSE(Contains(ServerProcess(open).log(), "127.0.0.1 only"));
  const TemporaryDirectory directory;
  const std::string token = directory.path() + "/token";
  std::ofstream(token) << "a-secret-token\n";
  ServerProcess guarded(options, {{"SEXTANT_TOKEN_FILE", token}});
  EXPECT_FALSE(Contains(guarded.log(), "127.0.0.1 only"));
  const size_t port = guarded.target().rfind(':');
  const std::string target = "grpc://127.0.0.1" + guarded.target().substr(port);
  const ProcessResult wrong = RunSextant({"status", target});
  EXPECT_EQ(wrong.status.code, 1);
  EXPECT_TRUE(Contains(wrong.error, "token")) << wrong.error;
  const ProcessResult right = RunSextant({"status", target, "--token_file", token});
  EXPECT_EQ(right.status.code, 0) << right.error;
  for (const std::string& text : {guarded.log(), wrong.error, right.output, right.error})
    EXPECT_FALSE(Contains(text, "a-secret-token"));
}

TEST_F(ServerProgramTest, FilesAreOpenedWhereTheyMayBe) {
  const TemporaryDirectory allowed, other;
  std::ofstream(allowed.path() + "/a") << "text";
  std::ofstream(other.path() + "/b") << "secret";
  const Output name = Placeholder(DType::kString, {}, "name");
  const Output content = OpBuilder("ReadFile").Input(name).Name("read").Build();
  ServerProcess server({"--cluster_spec", "local|127.0.0.1:0", "--job_name", "local",
                        "--allow_files", allowed.path()});
  Session session(graph_, {.target = server.target()});
  EXPECT_EQ(session.Run({{name, Tensor(allowed.path() + "/a")}}, content).scalar<std::string>(),
            "text");
  std::string answer;
  const Status status = StatusOf([&] {
    answer = session.Run({{name, Tensor(other.path() + "/b")}}, content).scalar<std::string>();
  });
  EXPECT_EQ(status.code(), Code::kPermissionDenied) << status.message() << answer;
}

// As ps shows it: T when it is stopped.
char StateOf(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  return text.at(text.rfind(')') + 2);
}

void Stop(ChildProcess& child) {
  child.Signal(SIGSTOP);
  while (StateOf(child.pid()) != 'T') std::this_thread::yield();
}

// A queue that stays empty: a Run that waits on the task.
struct Waiting {
  explicit Waiting(const std::string& device) {
    const DeviceScope on(device);
    const Output queue = FIFOQueue({DType::kFloat}, {.shared_name = "q"});
    element = QueueDequeue(queue)[0];
  }
  Output element;
};

// Whichever task the Run waits for first.
TEST_F(ServerProgramTest, KilledTaskIsNoticedBehindOneThatIsSlow) {
  const std::vector<int> ports = FreePorts(2);
  const std::string spec =
      fmt::format("worker|127.0.0.1:0,ps|127.0.0.1:{};127.0.0.1:{}", ports[0], ports[1]);
  const auto options = [&](int task) -> std::vector<std::string> {
    return {"--cluster_spec", spec, "--job_name", "ps", "--task_id", std::to_string(task)};
  };
  std::array<std::optional<ServerProcess>, 2> ps;
  for (int task = 0; task < 2; ++task) ps[task].emplace(options(task));
  const dist::Server worker({.cluster = dist::ParseClusterSpec(spec), .job = "worker"});
  const std::array waiting = {Waiting("/job:ps/task:0"), Waiting("/job:ps/task:1")};
  std::array<Output, 2> text;
  for (int task = 0; task < 2; ++task) {
    const DeviceScope on(fmt::format("/job:ps/task:{}", task));
    text[task] = OpBuilder("StringUpper").Input(Placeholder(DType::kString, {})).Build();
  }
  for (int killed = 0; killed < 2; ++killed) {
    Session session(graph_, {.target = worker.target()});
    for (const Output& upper : text)
      EXPECT_EQ(session.Run({{upper.node()->input(0), Tensor("a")}}, upper).scalar<std::string>(),
                "A");
    auto ended = std::async(std::launch::async, [&] {
      return StatusOf([&] { session.Run({}, {waiting[0].element, waiting[1].element}); });
    });
    EXPECT_EQ(ended.wait_for(milliseconds(300)), std::future_status::timeout);
    const auto start = std::chrono::steady_clock::now();
    ps[killed]->child().Signal(SIGKILL);
    const Status status = ended.get();
    EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(2));
    EXPECT_EQ(status.code(), Code::kUnavailable);
    EXPECT_TRUE(Contains(status.message(), fmt::format("/job:ps/task:{}", killed)))
        << status.message();
    ps[killed].emplace(options(killed));
  }
  Session session(graph_, {.target = worker.target()});
  for (const Output& upper : text)
    EXPECT_EQ(session.Run({{upper.node()->input(0), Tensor("a")}}, upper).scalar<std::string>(),
              "A");
}

TEST_F(ServerProgramTest, KilledAndStoppedTasksAreNamed) {
  const std::vector<int> ports = FreePorts(1);
  const std::string spec = fmt::format("worker|127.0.0.1:0,ps|127.0.0.1:{}", ports[0]);
  const std::vector<std::string> options = {"--cluster_spec", spec, "--job_name", "ps"};
  std::optional<ServerProcess> ps(std::in_place, options);
  const dist::Server worker({.cluster = dist::ParseClusterSpec(spec), .job = "worker"});
  const Waiting waiting("/job:ps/task:0");
  Output one;
  {
    const DeviceScope on("/job:ps/task:0");
    one = Square(Placeholder(DType::kFloat, {}, "x"));
  }
  const auto square = [&](Session& session) {
    return session.Run({{graph_.FindOutput("x:0"), Tensor(3.0f)}}, one).scalar<float>();
  };
  {
    Session session(graph_, {.target = worker.target()});
    EXPECT_EQ(square(session), 9.0f);
    auto ended = std::async(std::launch::async,
                            [&] { return StatusOf([&] { session.Run(waiting.element); }); });
    EXPECT_EQ(ended.wait_for(milliseconds(300)), std::future_status::timeout);
    const auto start = std::chrono::steady_clock::now();
    ps->child().Signal(SIGKILL);
    const Status status = ended.get();
    EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(2));
    EXPECT_EQ(status.code(), Code::kUnavailable);
    EXPECT_TRUE(Contains(status.message(), "/job:ps/task:0")) << status.message();
  }
  ps.emplace(options);
  Session session(graph_, {.target = worker.target()});
  EXPECT_EQ(square(session), 9.0f);
  Stop(ps->child());
  const auto start = std::chrono::steady_clock::now();
  const Status status = StatusOf([&] {
    session.Run({{graph_.FindOutput("x:0"), Tensor(3.0f)}}, one, {.deadline = milliseconds(500)});
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(2));
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded)
      << status.message() << " in state " << StateOf(ps->child().pid());
  EXPECT_TRUE(Contains(status.message(), "no answer yet from /job:ps/task:0")) << status.message();
  ps->child().Signal(SIGCONT);
  EXPECT_EQ(square(session), 9.0f);
}

// To a client that is no task, past the server that runs its session.
TEST_F(ServerProgramTest, StoppedTasksAreNamedToClients) {
  const std::vector<int> ports = FreePorts(3);
  const std::string spec =
      fmt::format("worker|127.0.0.1:{};127.0.0.1:{};127.0.0.1:{}", ports[0], ports[1], ports[2]);
  std::array<std::optional<ServerProcess>, 3> worker;
  for (int task = 0; task < 3; ++task) {
    worker[task].emplace(std::vector<std::string>{"--cluster_spec", spec, "--job_name", "worker",
                                                  "--task_id", std::to_string(task)});
  }
  const Output x = Placeholder(DType::kFloat, {}, "x");
  std::vector<Output> squares;
  for (int task = 0; task < 3; ++task) {
    const DeviceScope on(fmt::format("/job:worker/task:{}", task));
    squares.push_back(Square(x));
  }
  const auto run = [&](const RunOptions& options = {}) {
    Session session(graph_, {.target = worker[0]->target()});
    const std::vector<Tensor> values = session.Run({{x, Tensor(3.0f)}}, squares, {}, options);
    for (const Tensor& value : values) EXPECT_EQ(value.scalar<float>(), 9.0f);
  };
  run();
  for (const int stopped : {1, 2}) {
    Stop(worker[stopped]->child());
    const auto start = std::chrono::steady_clock::now();
    const Status status = StatusOf([&] { run({.deadline = milliseconds(1000)}); });
    EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(3));
    EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
    EXPECT_EQ(
        status.message(),
        fmt::format("deadline of 1 s exceeded: no answer yet from /job:worker/task:{}", stopped));
    worker[stopped]->child().Signal(SIGCONT);
    run();
  }
  Session session(graph_, {.target = worker[0]->target()});
  Stop(worker[0]->child());
  Status status = StatusOf([&] {
    session.Run({{x, Tensor(3.0f)}}, squares, {}, {.deadline = milliseconds(500)});
  });
  EXPECT_EQ(status.message(),
            fmt::format("deadline of 0.5 s exceeded: no answer yet from /job:worker/task:0 at "
                        "127.0.0.1:{}",
                        ports[0]));
  status = StatusOf(
      [&] { Session(graph_, {.target = worker[0]->target(), .deadline = milliseconds(500)}); });
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(Contains(status.message(), fmt::format("127.0.0.1:{}", ports[0])))
      << status.message();
  worker[0]->child().Signal(SIGCONT);
  run();
}

}  // namespace
}  // namespace sextant::cli
