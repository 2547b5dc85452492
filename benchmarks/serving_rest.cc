// REST requests against a server in this process, in turn with an HTTP server that only echoes and
// with peers; and all but the network.
#include <fmt/format.h>

#include <map>

#include "benchmarks/serving_load.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/formats/json_request.h"
#include "sextant/net/http_client.h"
#include "sextant/serving/inference.h"
#include "sextant/serving/model_manager.h"
#include "sextant/serving/rest_text.h"
#include "sextant/testing/certificates.h"

namespace sextant::bench {
namespace {

constexpr char kSmall[] = R"({"instances": [[1.0, 2.0]]})";

// The server, the echo and the peers that have the mode: one line with the ratios of medians.
void Compare(const std::string& mode, int server, int echo, const std::string& request, int clients,
             const ServingOptions& options) {
  std::vector<Contender> contenders = {{"server", HttpLoad(server, request)},
                                       {"echo", HttpLoad(echo, request)}};
  for (const ServingPeer& peer : options.peers) {
    if (mode.starts_with(peer.mode))
      contenders.push_back({peer.name, HttpLoad(peer.port, peer.request)});
  }
  const std::vector<Measured> measured = MeasureInTurn(contenders, clients, options);
  Extra extra = {{"mode", Quote(mode)},
                 {"clients", std::to_string(clients)},
                 {"p50_us", fmt::format("{:.1f}", measured[0].p50_us)},
                 {"p99_us", fmt::format("{:.1f}", measured[0].p99_us)},
                 {"cpu_us", fmt::format("{:.1f}", measured[0].cpu_us)},
                 {"echo_cpu_us", fmt::format("{:.1f}", measured[1].cpu_us)}};
  for (size_t i = 1; i < contenders.size(); ++i) {
    const std::string& name = contenders[i].name;
    extra.emplace_back(name, fmt::format("{:.1f}", measured[i].rate));
    extra.emplace_back(name + "_p50_us", fmt::format("{:.1f}", measured[i].p50_us));
    extra.emplace_back("of_" + name, fmt::format("{:.3f}", measured[0].rate / measured[i].rate));
  }
  Emit("serving_rest", "requests_per_second", {measured[0].rate}, false, extra);
}

// The same client with TLS and without, keeping its connection.
void CompareTls(const std::string& folder, const ServingOptions& options) {
  const CertificateAuthority authority("benchmark");
  const auto pair = authority.Issue("localhost");
  const auto quoted = [](const std::string& pem) {
    std::string text;
    for (const char c : pem) text += c == '\n' ? "\\n" : std::string(1, c);
    return "\"" + text + "\"";
  };
  const std::string file = JoinPath(folder, "tls");
  FileSystem::ForPath(file).WriteFileAtomically(
      file, "server_key: " + quoted(pair.key) + " server_cert: " + quoted(pair.certificate));
  serving::ServerOptions plain;
  plain.rest_port = 0;
  plain.models = {{.name = "identity", .base_path = JoinPath(folder, "identity")}};
  serving::ServerOptions secure = plain;
  secure.tls_file = file;
  const auto plain_server = StartServer(plain), secure_server = StartServer(secure);
  const auto load = [&](int port, bool tls) -> MakeClient {
    return [&authority, port, tls]() -> LoadClient {
      const auto client = std::make_shared<net::HttpClient>(net::HttpClientOptions{
          .host = "localhost", .port = port, .tls = tls, .ca = tls ? authority.certificate() : ""});
      return [client] {
        if (client->Post("/v1/models/identity:predict", kSmall).status != 200) {
          throw Internal("an error");
        }
      };
    };
  };
  const std::vector<Measured> measured =
      MeasureInTurn({{"tls", load(secure_server->rest_port(), true)},
                     {"plain", load(plain_server->rest_port(), false)}},
                    16, options);
  Emit("serving_rest", "requests_per_second", {measured[0].rate}, false,
       {{"mode", Quote("identity, TLS")},
        {"clients", "16"},
        {"plain", fmt::format("{:.1f}", measured[1].rate)},
        {"of_plain", fmt::format("{:.3f}", measured[0].rate / measured[1].rate)}});
}

// A request from its JSON body to that of the answer, on one thread.
class CoreRequest {
 public:
  CoreRequest(serving::Server& server, const std::string& model, std::string body)
      : server_(server), model_(model), body_(std::move(body)) {}

  void Run() {
    const auto servable = server_.models().Find(model_, {});
    const serving::ServableSignature* signature = nullptr;
    JsonRequest read = ReadJsonRequest(body_, [&](std::string_view name) {
      signature = &serving::PredictSignature(*servable, name);
      return std::span<const JsonInput>(signature->inputs());
    });
    const std::vector<Tensor> outputs = batcher_.Run(
        {.servable = servable, .signature = signature, .inputs = std::move(read.inputs)});
    serving::PredictionsText(*signature, read.form, outputs);
  }

 private:
  serving::Server& server_;
  const std::string model_, body_;
  serving::Batcher batcher_{{}};
};

}  // namespace

void MeasureServingCore(const ServingOptions& options) {
  const TemporaryDirectory directory;
  serving::ServerOptions server_options;
  server_options.models = {{.name = "identity", .base_path = ExportIdentity(directory.path())}};
  std::map<std::string, std::string> bodies = {{"identity", kSmall}};
  if (!options.census.empty()) {
    server_options.models.push_back({.name = "census", .base_path = options.census});
    bodies["census"] = FileSystem::ForPath(options.census_request).ReadFile(options.census_request);
  }
  const auto server = StartServer(server_options);
  for (const auto& [model, body] : bodies) {
    for (const int threads : {1, 2}) {
      const auto make = [&]() -> LoadClient {
        const auto request = std::make_shared<CoreRequest>(*server, model, body);
        return [request] { request->Run(); };
      };
      std::vector<double> rates;
      for (int i = 0; i < options.alternations; ++i) {
        rates.push_back(MeasureClosedLoop(make, threads, options.seconds).rate);
      }
      Emit("serving_core", "requests_per_second", rates, false,
           {{"mode", Quote(model)}, {"threads", std::to_string(threads)}});
    }
  }
}

void MeasureServingRest(const ServingOptions& options) {
  const TemporaryDirectory directory;
  serving::ServerOptions server_options;
  server_options.rest_port = 0;
  server_options.models = {
      {.name = "identity", .base_path = ExportIdentity(JoinPath(directory.path(), "identity"))}};
  std::string census;
  if (!options.census.empty()) {
    server_options.models.push_back({.name = "census", .base_path = options.census});
    census = FileSystem::ForPath(options.census_request).ReadFile(options.census_request);
  }
  const auto server = StartServer(server_options);
  // As the peers do: requests that wait are joined.
  server_options.batching.enabled = true;
  const auto joining = StartServer(server_options);
  const auto echo = StartHttpEcho();
  for (const int clients : {1, 16}) {
    const auto compare = [&](const std::string& mode, const serving::Server& one,
                             const std::string& request) {
      Compare(mode, one.rest_port(), echo->port(), request, clients, options);
    };
    if (!options.only_census) {
      compare("identity", *server, PredictPost("identity", kSmall));
      compare("3072 floats", *server, PredictPost("identity", FloatsBody(3072)));
    }
    if (census.empty()) continue;
    compare("census", *server, PredictPost("census", census));
    compare("census, joined", *joining, PredictPost("census", census));
  }
  if (options.only_census) return;
  CompareTls(directory.path(), options);
}

}  // namespace sextant::bench
