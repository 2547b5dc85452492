#include "sextant/cli/serve_command.h"

#include <unistd.h>

#include <iostream>
#include <memory>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/base/logging.h"
#include "sextant/cli/interruptible.h"
#include "sextant/cli/net_commands.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/serving/model_manager.h"
#include "sextant/serving/server.h"

namespace sextant::cli {
namespace {

struct ServeFlags {
  std::string address = "127.0.0.1";
  int64_t port = 8500, rest_port = 0, rest_timeout_ms = 30000, rest_threads = 0;
  std::string grpc_socket, grpc_arguments, token_file, admin_token_file;
  std::vector<std::string> allowed_roots;
  std::string rest_socket, model_name = "default", base_path, config_file, tags = "serve";
  double config_poll_seconds = 0, poll_seconds = 1;
  int64_t load_retries = 5, load_retry_micros = 60000000;
  bool batching = false, warm_up = true, cors = false, labels_for_unavailable = false;
  std::string batching_file, monitoring_file, tls_file;
  double latency_target_ms = 0, drain_seconds = 30;
  int64_t max_body_mb = 64, max_connections = 4096;
};

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(1000 * seconds));
}

serving::ServerOptions OptionsOf(const ServeFlags& flags) {
  serving::ServerOptions options;
  options.address = flags.address;
  if (flags.port > 0) options.grpc_port = static_cast<int>(flags.port);
  options.grpc_unix_path = flags.grpc_socket;
  for (size_t begin = 0; begin < flags.grpc_arguments.size();) {
    const size_t end = std::min(flags.grpc_arguments.find(',', begin), flags.grpc_arguments.size());
    options.grpc_arguments.push_back(flags.grpc_arguments.substr(begin, end - begin));
    begin = end + 1;
  }
  options.token_file = flags.token_file;
  options.admin_token_file = flags.admin_token_file;
  options.allowed_roots = flags.allowed_roots;
  if (flags.rest_port > 0) options.rest_port = static_cast<int>(flags.rest_port);
  options.rest_unix_path = flags.rest_socket;
  options.rest_threads = static_cast<int>(flags.rest_threads);
  options.rest_timeout = std::chrono::milliseconds(flags.rest_timeout_ms);
  options.cors = flags.cors;
  options.max_body_bytes = flags.max_body_mb << 20;
  options.max_connections = static_cast<int>(flags.max_connections);
  if (flags.config_file.empty()) {
    options.models = {{.name = flags.model_name,
                       .base_path = flags.base_path,
                       .latency_target_ms = flags.latency_target_ms}};
  }
  options.model_config_file = flags.config_file;
  options.model_config_poll = Milliseconds(flags.config_poll_seconds);
  options.file_system_poll = Milliseconds(flags.poll_seconds);
  options.max_load_retries = static_cast<int>(flags.load_retries);
  options.load_retry_interval = std::chrono::milliseconds(flags.load_retry_micros / 1000);
  options.tags = ParseTags(flags.tags);
  options.warm_up = flags.warm_up;
  options.labels_for_unavailable_models = flags.labels_for_unavailable;
  if (!flags.batching_file.empty()) {
    options.batching = serving::ReadBatchingFile(flags.batching_file);
  }
  options.batching.enabled = flags.batching || flags.latency_target_ms > 0;
  options.tls_file = flags.tls_file;
  if (!flags.monitoring_file.empty()) {
    options.monitoring = serving::ReadMonitoringFile(flags.monitoring_file);
  }
  return options;
}

void CheckFlags(const ServeFlags& flags) {
  if (flags.config_file.empty() && flags.base_path.empty()) {
    throw InvalidArgument("give --model_base_path DIR, or --model_config_file FILE");
  }
  const bool tcp = flags.rest_port > 0 || flags.port > 0;
  if (!tcp && flags.rest_socket.empty() && flags.grpc_socket.empty()) {
    throw InvalidArgument("give --port PORT for gRPC or --rest_api_port PORT for REST");
  }
  if (!flags.batching_file.empty() && !flags.batching) {
    throw InvalidArgument("--batching_parameters_file needs --enable_batching");
  }
  if (ParseTags(flags.tags).empty()) {
    throw InvalidArgument("--saved_model_tags names no tag; leave it out for serve");
  }
  if (!flags.config_file.empty()) return;
  FileSystem& files = FileSystem::ForPath(flags.base_path);
  if (files.Exists(flags.base_path) && !files.Stat(flags.base_path).is_directory) {
    throw InvalidArgument(
        "--model_base_path {} is a file; give a directory whose entries are versions by number",
        flags.base_path);
  }
  if (IsSavedModelDir(flags.base_path)) {
    throw InvalidArgument(
        "{} is one version; give the directory above it, whose entries are "
        "versions by number",
        flags.base_path);
  }
}

// Serves until a signal comes; 0 after a clean end.
int Serve(const ServeFlags& flags) {
  const InterruptScope interrupts;
  const auto started = [&] {  // until then it may wait for the bytes of its files
    const Interruptible interruptible;
    return std::make_unique<serving::Server>(OptionsOf(flags));
  }();
  serving::Server& server = *started;
  if (server.rest_port() != 0) {
    LogInfo("REST at {}://{}:{}/v1/models", flags.tls_file.empty() ? "http" : "https",
            flags.address, server.rest_port());
  }
  if (server.grpc_port() != 0) LogInfo("gRPC at {}:{}", flags.address, server.grpc_port());
  if (!flags.rest_socket.empty()) LogInfo("REST at {}", flags.rest_socket);
  bool ready = false;
  while (!Interrupted()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ready ? 50 : 5));
    if (!ready && server.models().NotReady().empty()) {
      ready = true;
      LogInfo("ready");
    }
  }
  LogInfo("ends: requests that were sent are answered, for {} s at most", flags.drain_seconds);
  server.Drain(Milliseconds(flags.drain_seconds));
  return 0;
}

void AddModelOptions(Command& command, const std::shared_ptr<ServeFlags>& flags) {
  command.AddOption("--model_base_path DIR", &flags->base_path,
                    "holds a directory per version of the model, by number");
  command.AddOption("--model_name NAME", &flags->model_name, "in paths (default: default)");
  command.AddOption("--model_config_file FILE", &flags->config_file,
                    "several models, labels, policies: TensorFlow Serving's file; it comes "
                    "before --model_base_path");
  command.AddOption("--model_config_file_poll_wait_seconds S", &flags->config_poll_seconds,
                    "read it again this often; 0 (the default): never", 0, 1e6);
  command.AddOption("--file_system_poll_wait_seconds S", &flags->poll_seconds,
                    "look for new versions this often; 0: once (default 1)", -1, 1e6);
  command.AddOption("--saved_model_tags TAGS", &flags->tags, "of the graph (default serve)");
  command.AddOption("--max_num_load_retries N", &flags->load_retries,
                    "for a version that does not load (default 5)", 0, 1000000);
  command.AddOption("--load_retry_interval_micros N", &flags->load_retry_micros,
                    "between them (default 60000000)", 0, int64_t{1} << 50);
  command.AddFlag("--enable_model_warmup", &flags->warm_up,
                  "run the requests of assets.extra/tf_serving_warmup_requests (default true)");
  command.AddFlag("--allow_version_labels_for_unavailable_models", &flags->labels_for_unavailable,
                  "labels may name versions that are not loaded yet");
}

}  // namespace

std::shared_ptr<void> ServeExports(const std::string& model, const std::string& base_path,
                                   int64_t port) {
  serving::ServerOptions options;
  options.rest_port = static_cast<int>(port);
  options.models.push_back({.name = model, .base_path = base_path});
  auto server = std::make_shared<serving::Server>(options);
  LogInfo("REST at http://127.0.0.1:{}/v1/models/{}", server->rest_port(), model);
  return server;
}

void AddServeCommand(Command& program) {
  Command& command = program.AddCommand(
      kServe.name, kServe.description,
      "sextant serve --rest_api_port=8501 --model_name=census "
      "--model_base_path=runs/census/export/census\n"
      "curl -d '{\"instances\": [...]}' http://127.0.0.1:8501/v1/models/census:predict");
  command.OnOpen([](Command& opened) {
    auto flags = std::make_shared<ServeFlags>();
    AddModelOptions(opened, flags);
    opened.AddOption("--port PORT", &flags->port, "for gRPC; 0: none (default 8500)", 0, 65535);
    opened.AddOption("--grpc_socket_path PATH", &flags->grpc_socket, "a unix socket for gRPC");
    opened.AddOption("--grpc_channel_arguments LIST", &flags->grpc_arguments,
                     "of gRPC: name=value,name=value");
    opened.AddOption("--token_file FILE", &flags->token_file,
                     "who may ask: a line per token, with the models it is for");
    opened.AddOption("--admin_token_file FILE", &flags->admin_token_file,
                     "who may change the configuration by gRPC; default: nobody");
    opened.AddOption("--allowed_root DIR", &flags->allowed_roots,
                     "where models of a new configuration may be; default: beside those there are");
    opened.AddOption("--rest_api_port PORT", &flags->rest_port, "for REST", 0, 65535);
    opened.AddOption("--rest_api_timeout_in_ms N", &flags->rest_timeout_ms,
                     "of a request (default 30000)", 1, int64_t{1} << 40);
    opened.AddOption("--rest_api_num_threads N", &flags->rest_threads, "default: one per core", 0,
                     4096);
    opened.AddOption("--rest_api_socket PATH", &flags->rest_socket, "a unix socket for REST");
    opened.AddOption("--address IP", &flags->address,
                     "to listen at (default 127.0.0.1: this machine only; 0.0.0.0: all networks)");
    opened.AddFlag("--enable_cors_support", &flags->cors, "browsers may ask from pages of others");
    opened.AddFlag("--enable_batching", &flags->batching, "join requests that wait to batches");
    opened.AddOption("--batching_parameters_file FILE", &flags->batching_file,
                     "max_batch_size and the like: TensorFlow Serving's file");
    opened.AddOption("--latency_target_ms MS", &flags->latency_target_ms,
                     "batches wait for more requests while that pays within this time", 0, 1e6);
    opened.AddOption("--monitoring_config_file FILE", &flags->monitoring_file,
                     "metrics for Prometheus: TensorFlow Serving's file");
    opened.AddOption("--ssl_config_file FILE", &flags->tls_file,
                     "TLS: TensorFlow Serving's file; read again when it changes");
    opened.AddOption("--max_body_mb N", &flags->max_body_mb, "of a request (default 64)", 1, 4096);
    opened.AddOption("--max_connections N", &flags->max_connections, "default 4096", 1, 1000000);
    opened.AddOption("--drain_seconds S", &flags->drain_seconds,
                     "after SIGTERM, to answer what was sent (default 30)", 0, 86400);
    // Those of TensorFlow Serving that are not given when they are empty; CheckFlags finds tags
    // that name none.
    opened.AllowEmpty({"--model_base_path", "--model_config_file", "--saved_model_tags",
                       "--grpc_socket_path", "--grpc_channel_arguments",
                       "--batching_parameters_file", "--monitoring_config_file",
                       "--ssl_config_file"});
    opened.AddArgumentFiles();
    opened.OutliveOutput();
    opened.OnCheck([flags] { CheckFlags(*flags); });
    opened.OnRun([flags] { return Serve(*flags); });
  });
}

}  // namespace sextant::cli
