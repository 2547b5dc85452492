#include "benchmarks/serving_load.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/net/http_client.h"
#include "sextant/sextant.h"

namespace sextant::bench {
int Connect(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int one = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket);
    throw MakeError<Code::kUnavailable>("cannot connect to port {}", port);
  }
  return socket;
}

namespace {

using BenchClock = std::chrono::steady_clock;

class RawClient {
 public:
  explicit RawClient(int port) : socket_(Connect(port)) {}
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void Ask(const std::string& request) {
    for (size_t sent = 0; sent < request.size();) {
      const ssize_t size =
          ::send(socket_, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      if (size <= 0) throw MakeError<Code::kUnavailable>("a request was not sent");
      sent += static_cast<size_t>(size);
    }
    size_t have = 0, end = 0;
    while (end == 0 || have < end) {
      if (buffer_.size() < have + 65536) buffer_.resize(have + 65536);
      const ssize_t size = ::recv(socket_, buffer_.data() + have, buffer_.size() - have, 0);
      if (size <= 0) throw MakeError<Code::kUnavailable>("no answer");
      have += static_cast<size_t>(size);
      const std::string_view text(buffer_.data(), have);
      const size_t head_end = text.find("\r\n\r\n");
      if (end == 0 && head_end != std::string_view::npos) {
        end = head_end + 4 + Length(text.substr(0, head_end));
      }
    }
    const std::string_view answer(buffer_.data(), have);
    if (answer.starts_with("HTTP/1.1 200")) return;
    const Code code = answer.starts_with("HTTP/1.1 503")   ? Code::kUnavailable
                      : answer.starts_with("HTTP/1.1 504") ? Code::kDeadlineExceeded
                                                           : Code::kInternal;
    throw Error(code, std::string(answer.substr(0, 500)));
  }

 private:
  static size_t Length(std::string_view head) {
    std::string lower(head);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    const size_t at = lower.find("content-length:");
    return at == std::string::npos ? 0 : std::stoul(lower.substr(at + 15, 12));
  }

  const int socket_;
  std::string buffer_;
};

void SaveModel(const std::string& base, int64_t version, Session& session, Output x, Output y) {
  FileSystem::ForPath(base).CreateDirectories(base);
  SavedModelBuilder builder(JoinPath(base, std::to_string(version)));
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{kDefaultSignature, {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}});
  builder.Save();
}

}  // namespace

MakeClient HttpLoad(int port, const std::string& request) {
  return [port, request]() -> LoadClient {
    const auto client = std::make_shared<RawClient>(port);
    return [client, request] { client->Ask(request); };
  };
}

std::string PredictPost(const std::string& model, const std::string& body,
                        const std::string& type) {
  return fmt::format(
      "POST /v1/models/{}:predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: {}\r\n"
      "Content-Length: {}\r\n\r\n{}",
      model, type, body.size(), body);
}

std::string FloatsBody(int count) {
  std::string body = "{\"instances\": [[";
  for (int i = 0; i < count; ++i) body += fmt::format("{}{:.6g}", i > 0 ? ", " : "", i * 0.0123);
  return body + "]]}";
}

namespace {

double CpuSeconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Measured MeasureClosedLoop(const MakeClient& make, int clients, double seconds) {
  std::vector<std::vector<double>> times(clients);
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::exception_ptr error;
  const double cpu_before = CpuSeconds();
  const auto start = BenchClock::now();
  const auto end = start + std::chrono::duration_cast<BenchClock::duration>(
                               std::chrono::duration<double>(seconds));
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&, i] {
      try {
        const LoadClient ask = make();
        for (auto begin = BenchClock::now(); begin < end;) {
          ask();
          const auto now = BenchClock::now();
          times[i].push_back(std::chrono::duration<double, std::micro>(now - begin).count());
          begin = now;
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        error = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
  const double spent = std::chrono::duration<double>(BenchClock::now() - start).count();
  std::vector<double> all;
  for (const auto& own : times) all.insert(all.end(), own.begin(), own.end());
  if (all.empty()) throw Internal("no request was answered");
  std::ranges::sort(all);
  const auto count = static_cast<double>(all.size());
  return {.rate = count / spent,
          .p50_us = all[all.size() / 2],
          .p99_us = all[all.size() * 99 / 100],
          .cpu_us = 1e6 * (CpuSeconds() - cpu_before) / count};
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::vector<Measured> MeasureInTurn(const std::vector<Contender>& contenders, int clients,
                                    const ServingOptions& options) {
  std::vector<std::vector<double>> rates(contenders.size()), p50(contenders.size()),
      p99(contenders.size()), cpu(contenders.size());
  for (int i = 0; i < options.alternations; ++i) {
    for (size_t k = 0; k < contenders.size(); ++k) {
      const Measured one = MeasureClosedLoop(contenders[k].make, clients, options.seconds);
      rates[k].push_back(one.rate);
      p50[k].push_back(one.p50_us);
      p99[k].push_back(one.p99_us);
      cpu[k].push_back(one.cpu_us);
    }
  }
  std::vector<Measured> medians;
  for (size_t k = 0; k < contenders.size(); ++k) {
    medians.push_back({Median(rates[k]), Median(p50[k]), Median(p99[k]), Median(cpu[k])});
  }
  return medians;
}

std::string ExportIdentity(const std::string& base, int64_t version) {
  Graph graph;
  const GraphScope scope(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape({-1, -1}), "x");
  const Output y = Identity(x);
  Session session(graph);
  SaveModel(base, version, session, x, y);
  return base;
}

std::string ExportResnet44(const std::string& base) {
  Graph graph;
  const GraphScope scope(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape({-1, 32, 32, 3}), "x");
  const Output y = Softmax(models::ResnetCifarLogits(x, {}, false));
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  SaveModel(base, 1, session, x, y);
  return base;
}

std::string ExportDense(const std::string& base, int64_t width, int64_t version) {
  Graph graph;
  const GraphScope scope(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape({-1, 64}), "x");
  const Variable a("a", RandomUniform({64, width}, {.seed = 1}));
  const Variable b("b", RandomUniform({width, width}, {.seed = 2}));
  const Variable c("c", RandomUniform({width, 10}, {.seed = 3}));
  const Output y = MatMul(Relu(MatMul(Relu(MatMul(x, a)), b)), c);
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  SaveModel(base, version, session, x, y);
  return base;
}

std::unique_ptr<serving::Server> StartServer(serving::ServerOptions options) {
  options.settle = std::chrono::milliseconds(0);
  auto server = std::make_unique<serving::Server>(options);
  if (!server->WaitUntilReady(std::chrono::seconds(120))) {
    throw Internal("the server does not become ready");
  }
  return server;
}

std::unique_ptr<net::HttpServer> StartHttpEcho() {
  return std::make_unique<net::HttpServer>(
      net::HttpServerOptions{}, [](net::HttpRequest& request, const net::HttpResponder& responder) {
        responder.Send({.body = std::move(request.body())});
      });
}

double MeanBatchRows(int rest_port) {
  net::HttpClient client({.port = rest_port});
  const std::string text = client.Get("/monitoring/prometheus/metrics").body;
  const auto sum_of = [&](const std::string& name) {
    double sum = 0;
    for (size_t at = text.find("\n" + name); at != std::string::npos;
         at = text.find("\n" + name, at + 1)) {
      const size_t end = text.find('\n', at + 1);
      const std::string line = text.substr(at + 1, end - at - 1);
      sum += std::stod(line.substr(line.rfind(' ') + 1));
    }
    return sum;
  };
  const std::string name = ":tensorflow:serving:batching_session:processed_batch_size";
  return sum_of(name + "_sum") / std::max(1.0, sum_of(name + "_count"));
}

}  // namespace sextant::bench
