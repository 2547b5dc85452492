// GrpcServer: TensorFlow Serving's gRPC services tensorflow.serving.PredictionService and
// ModelService, with grpc.health.v1.Health and reflection beside them.
//
// The services are looked up by their names on the wire, as their messages are declared in a
// package of ours (sextant/proto/README.md). Tensors of Predict are read from, and written into,
// gRPC's buffers without building messages.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sextant/serving/model_config.h"
#include "sextant/serving/rest_api.h"

namespace sextant::serving {

struct GrpcServerOptions {
  std::string address = "127.0.0.1";
  int port = 0;           // 0: any free one; less: none
  std::string unix_path;  // a unix socket too
  std::shared_ptr<const TlsFiles> tls;
  int64_t max_message_bytes = int64_t{64} << 20;
  int max_streams = 1024;              // of one connection at a time
  std::vector<std::string> arguments;  // of gRPC's channels: "name=value"
};

class GrpcServer {
 public:
  // Listens. Throws UNAVAILABLE when the address cannot be used, INVALID_ARGUMENT for arguments
  // that are none.
  GrpcServer(const GrpcServerOptions& options, const ServingParts& parts);
  // Stops.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  int port() const;
  void SetHealthy(bool healthy);
  // For connections made from now on. Throws INVALID_ARGUMENT and keeps what it had. REQUIRES: the
  // server was made with TLS.
  void SetTls(const TlsFiles& files);
  // Takes no more calls, answers those it has; cuts off what takes longer than "limit".
  void Drain(std::chrono::milliseconds limit);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::serving
