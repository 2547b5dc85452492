// sextant-serving-bench: servers in this process under load, in turn with what bounds them. One
// JSON line per measurement (benchmarks/README.md).
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "benchmarks/serving_load.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/base/parse_number.h"

namespace sextant::bench {
namespace {

// NAME,MODE,PORT,FILE
ServingPeer PeerOf(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end =
        parts.size() == 3 ? text.size() : std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  ServingPeer peer;
  if (parts.size() != 4 || !ParseNumber(parts[2], &peer.port)) {
    throw InvalidArgument("--peer {}: give NAME,MODE,PORT,FILE", text);
  }
  peer.name = parts[0];
  peer.mode = parts[1];
  peer.request = FileSystem::ForPath(parts[3]).ReadFile(parts[3]);
  return peer;
}

struct Workload {
  const char* name;
  const char* description;
  void (*run)(const ServingOptions& options);
};

const Workload kWorkloads[] = {
    {"serving_core", "all but the network", MeasureServingCore},
    {"serving_rest", "REST beside an HTTP echo; TLS", MeasureServingRest},
    {"serving_grpc", "gRPC beside a gRPC echo", MeasureServingGrpc},
    {"serving_resnet", "ResNet-44, saturated, beside the model in process", MeasureServingResnet},
    {"serving_batching", "what joining requests gains", MeasureServingBatching},
    {"serving_open_loop", "latency at low load, goodput in overload", MeasureServingOpenLoop},
    {"serving_reload", "new versions under load", MeasureServingReload},
};

int Main(int argc, char** argv) {
  CLI::App app("Measures serving.");
  app.require_subcommand(1);
  ServingOptions options;
  std::vector<std::string> census, peers;
  for (const Workload& workload : kWorkloads) {
    CLI::App* command = app.add_subcommand(workload.name, workload.description);
    command->add_option("--repeats", options.alternations, "measurements of each, in turn")
        ->capture_default_str();
    command->add_option("--seconds", options.seconds, "of one measurement")->capture_default_str();
    command->add_option("--reloads", options.reloads, "of serving_reload")->capture_default_str();
    command->add_option("--census", census, "versions of a model, and a file with a JSON request")
        ->expected(2);
    command->add_flag("--only-census", options.only_census, "of serving_rest");
    command->add_option("--peer", peers, "a server that runs: NAME,MODE,PORT,FILE of a request");
  }
  std::string folder;
  CLI::App* exports = app.add_subcommand("export", "writes the models identity and resnet44");
  exports->add_option("FOLDER", folder, "where to")->required();
  CLI11_PARSE(app, argc, argv);
  SetLogLevel(LogLevel::kWarning);
  try {
    if (!census.empty()) {
      options.census = census[0];
      options.census_request = census[1];
    }
    if (*exports) {
      ExportIdentity(JoinPath(folder, "identity"));
      ExportResnet44(JoinPath(folder, "resnet44"));
    }
    for (const std::string& peer : peers) options.peers.push_back(PeerOf(peer));
    for (const Workload& workload : kWorkloads) {
      if (*app.get_subcommand(workload.name)) workload.run(options);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace sextant::bench

int main(int argc, char** argv) { return sextant::bench::Main(argc, argv); }
