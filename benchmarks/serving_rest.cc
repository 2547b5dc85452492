// REST requests against a server in this process, in turn with an HTTP server that only echoes, so
// that both see the same machine. One JSON line per measurement (benchmarks/README.md).
//
//   sextant-serving-bench [--census DIR REQUEST]     DIR: versions of a model that REQUEST fits
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "benchmarks/report.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/formats/json_request.h"
#include "sextant/graph/scope.h"
#include "sextant/net/http_server.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"
#include "sextant/serving/inference.h"
#include "sextant/serving/model_manager.h"
#include "sextant/serving/rest_text.h"
#include "sextant/serving/server.h"
#include "sextant/train/saved_model_builder.h"

namespace sextant::bench {
namespace {

using BenchClock = std::chrono::steady_clock;
constexpr int kAlternations = 5;
constexpr std::chrono::milliseconds kGroup{1000};

// A connection that sends the same bytes again and again.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int one = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw Internal("cannot connect to port {}", port);
    }
  }
  ~RawClient() { ::close(socket_); }

  void Ask(const std::string& request) {
    if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size())) {
      throw Internal("a request was not sent");
    }
    size_t have = 0, end = 0;
    while (end == 0 || have < end) {
      if (buffer_.size() < have + 65536) buffer_.resize(have + 65536);
      const ssize_t size = ::recv(socket_, buffer_.data() + have, buffer_.size() - have, 0);
      if (size <= 0) throw Internal("no answer");
      have += static_cast<size_t>(size);
      const std::string_view text(buffer_.data(), have);
      const size_t head = text.find("\r\n\r\n");
      if (end != 0 || head == std::string_view::npos) continue;
      if (!text.starts_with("HTTP/1.1 200")) throw Internal("{}", text.substr(0, 500));
      end = head + 4 + std::stoul(std::string(text.substr(text.find("Content-Length: ") + 16, 12)));
    }
  }

 private:
  const int socket_;
  std::string buffer_;
};

struct Measured {
  double rate = 0, p50_us = 0, p99_us = 0;
};

Measured Measure(int port, const std::string& request, int clients) {
  std::vector<std::vector<double>> times(clients);
  std::vector<std::thread> threads;
  const auto end = BenchClock::now() + kGroup;
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&, i] {
      RawClient client(port);
      for (auto begin = BenchClock::now(); begin < end;) {
        client.Ask(request);
        const auto now = BenchClock::now();
        times[i].push_back(std::chrono::duration<double, std::micro>(now - begin).count());
        begin = now;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<double> all;
  for (const auto& own : times) all.insert(all.end(), own.begin(), own.end());
  std::ranges::sort(all);
  return {static_cast<double>(all.size()) / std::chrono::duration<double>(kGroup).count(),
          all[all.size() / 2], all[all.size() * 99 / 100]};
}

std::string Post(const std::string& model, const std::string& body) {
  return fmt::format(
      "POST /v1/models/{}:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}",
      model, body.size(), body);
}

std::string ExportIdentity(const std::string& base) {
  Graph graph;
  const GraphScope scope(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape({-1, -1}), "x");
  const Output y = Identity(x);
  Session session(graph);
  FileSystem::ForPath(base).CreateDirectories(base);
  SavedModelBuilder builder(JoinPath(base, "1"));
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{kDefaultSignature, {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}});
  return builder.Save();
}

// The server and the echo in turn: lines for both, and the ratio of their medians.
void Compare(const std::string& name, int server, int echo, const std::string& request,
             int clients) {
  std::vector<double> rates, echo_rates, p50, echo_p50;
  for (int i = 0; i < kAlternations; ++i) {
    const Measured ours = Measure(server, request, clients);
    const Measured floor = Measure(echo, request, clients);
    rates.push_back(ours.rate);
    echo_rates.push_back(floor.rate);
    p50.push_back(ours.p50_us);
    echo_p50.push_back(floor.p50_us);
  }
  const auto median = [](std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
  };
  Emit("serving_rest", "requests_per_second", rates, false,
       {{"mode", Quote(name)},
        {"clients", std::to_string(clients)},
        {"p50_us", fmt::format("{:.1f}", median(p50))},
        {"echo", fmt::format("{:.1f}", median(echo_rates))},
        {"echo_p50_us", fmt::format("{:.1f}", median(echo_p50))},
        {"of_echo", fmt::format("{:.3f}", median(rates) / median(echo_rates))}});
}

// All but the network: JSON, look-up, run, JSON.
void MeasureCore(serving::ModelManager& models, const std::string& body) {
  serving::Batcher batcher({});
  const auto request = [&] {
    const auto servable = models.Find("identity", {});
    const serving::ServableSignature* signature = nullptr;
    JsonRequest read = ReadJsonRequest(body, [&](std::string_view name) {
      signature = &serving::PredictSignature(*servable, name);
      return std::span<const JsonInput>(signature->inputs());
    });
    const std::vector<Tensor> outputs = batcher.Run(
        {.servable = servable, .signature = signature, .inputs = std::move(read.inputs)});
    serving::PredictionsText(*signature, read.form, outputs);
  };
  for (int i = 0; i < 1000; ++i) request();
  Emit("serving_core", "requests_per_second", Repeat(request, {.seconds = 0.5}), false);
}

void Run(const std::vector<std::string>& arguments) {
  SetLogLevel(LogLevel::kWarning);
  const TemporaryDirectory directory;
  ExportIdentity(JoinPath(directory.path(), "identity"));
  serving::ServerOptions options;
  options.rest_port = 0;
  options.models.push_back(
      {.name = "identity", .base_path = JoinPath(directory.path(), "identity")});
  options.settle = std::chrono::milliseconds(0);
  std::string census;
  if (arguments.size() == 3 && arguments[0] == "--census") {
    options.models.push_back({.name = "census", .base_path = arguments[1]});
    census = FileSystem::ForPath(arguments[2]).ReadFile(arguments[2]);
  }
  serving::Server server(options);
  server.WaitUntilReady(std::chrono::seconds(60));
  net::HttpServer echo({}, [](net::HttpRequest& request, const net::HttpResponder& responder) {
    responder.Send({.body = std::move(request.body())});
  });
  const std::string small = R"({"instances": [[1.0, 2.0]]})";
  std::string image = "{\"instances\": [[";
  for (int i = 0; i < 3072; ++i) image += fmt::format("{}{:.6g}", i > 0 ? ", " : "", i * 0.0123);
  image += "]]}";
  MeasureCore(server.models(), small);
  for (const int clients : {1, 16}) {
    Compare("identity", server.rest_port(), echo.port(), Post("identity", small), clients);
    Compare("3072 floats", server.rest_port(), echo.port(), Post("identity", image), clients);
    if (!census.empty()) {
      Compare("census", server.rest_port(), echo.port(), Post("census", census), clients);
    }
  }
}

}  // namespace
}  // namespace sextant::bench

int main(int argc, char** argv) {
  try {
    sextant::bench::Run({argv + 1, argv + argc});
  } catch (const sextant::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
