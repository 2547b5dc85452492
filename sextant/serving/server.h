// Server: serves models as TensorFlow Serving does.
//
//   const serving::ModelConfig census = {.name = "census", .base_path = "export"};
//   serving::Server server({.rest_port = 8501, .models = {census}});
//   server.WaitUntilReady(std::chrono::seconds(60));
//   ...
//   server.Drain(std::chrono::seconds(30));
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/serving/model_config.h"

#pragma GCC visibility push(default)

namespace sextant::serving {

class ModelManager;

struct SEXTANT_API ServerOptions {
  std::string address = "127.0.0.1";
  std::optional<int> grpc_port = {};             // 0: any free one; none: no gRPC interface
  std::string grpc_unix_path = {};               // gRPC on a unix socket too
  std::vector<std::string> grpc_arguments = {};  // of gRPC's channels: "name=value"
  std::optional<int> rest_port = {};             // 0: any free one; none: no REST interface
  std::string rest_unix_path = {};               // REST on a unix socket too
  int rest_threads = 0;                          // 0: one per core
  std::chrono::milliseconds rest_timeout{30000};
  bool cors = false;
  int64_t max_body_bytes = int64_t{64} << 20;
  int64_t max_bytes_in_flight = int64_t{1} << 30;
  int max_connections = 4096;

  std::vector<ModelConfig> models = {};
  std::string model_config_file = {};                // instead of "models"
  std::chrono::milliseconds model_config_poll{0};    // 0: it is read once
  std::chrono::milliseconds file_system_poll{1000};  // 0: once; less: never
  std::chrono::milliseconds settle{2000};            // how long a new version must stay unchanged
  int max_load_retries = 5;
  std::chrono::milliseconds load_retry_interval{60000};
  std::set<std::string> tags = {"serve"};
  bool warm_up = true;
  bool labels_for_unavailable_models = false;

  BatchingConfig batching = {};
  std::string tls_file = {};  // TensorFlow Serving's ssl_config_file; read again when it changes
  MonitoringOptions monitoring = {};
  std::string token_file = {};        // who may ask which model; see access.h
  std::string admin_token_file = {};  // who may change what is served; "": nobody
  // Where models of a new configuration may be; none: where the first ones are, or beside them.
  std::vector<std::string> allowed_roots = {};
};

class SEXTANT_API Server {
 public:
  // Listens and begins to load. Throws INVALID_ARGUMENT, NOT_FOUND or UNAVAILABLE for options that
  // cannot be followed.
  explicit Server(const ServerOptions& options);
  // Stops.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int rest_port() const;  // 0 without a REST interface
  int grpc_port() const;  // 0 without a gRPC interface
  // Every model has a version to answer with. False after "limit".
  bool WaitUntilReady(std::chrono::milliseconds limit) const;
  ModelManager& models();

  // Not ready any more; answers what was sent, then stops. What takes longer than "limit" is cut
  // off.
  void Drain(std::chrono::milliseconds limit);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::serving

#pragma GCC visibility pop
