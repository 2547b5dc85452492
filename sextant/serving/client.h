// Client: asks a server of models, ours or TensorFlow Serving, by gRPC or REST.
//
//   serving::Client client({.address = "localhost:8500"});
//   auto answer = client.Predict({.model = "mnist"}, {{"image", image}});
//   const Tensor& classes = answer.outputs.at("classes");
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/runtime/saved_model.h"

#pragma GCC visibility push(default)

namespace sextant::serving {

struct SEXTANT_API ClientOptions {
  // Of the gRPC interface: "host:port" or "unix:PATH". Of the REST interface: "http://host:port"
  // or, with TLS, "https://host:port".
  std::string address;
  std::string token = {};
  bool tls = false;                                      // of gRPC
  std::string ca = {};                                   // PEM: who signed the server's certificate
  std::string client_certificate = {}, client_key = {};  // PEM
  std::chrono::milliseconds timeout{30000};              // of one call
};

// Which model is asked.
struct SEXTANT_API ModelQuery {
  std::string model;  // its name at the server
  std::optional<int64_t> version = {};
  std::string label = {};
  std::string signature = {};             // "": serving_default
  std::vector<std::string> outputs = {};  // none: all
};

// What a model answers.
struct SEXTANT_API PredictAnswer {
  NamedTensors outputs;   // by their names in the signature
  int64_t version = 0;    // by REST: the one that was asked for, or 0
  std::string signature;  // the one that was run
};

// Thread-safe. All functions throw what the server says, UNAVAILABLE when there is none, and
// DEADLINE_EXCEEDED.
class SEXTANT_API Client {
 public:
  explicit Client(const ClientOptions& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Runs a signature on tensors.
  PredictAnswer Predict(const ModelQuery& query, const NamedTensors& inputs) const;
  // Of serialized Examples, a row each: labels with scores, and values.
  std::vector<std::vector<std::pair<std::string, float>>> Classify(
      const ModelQuery& query, const std::vector<std::string>& examples) const;
  std::vector<float> Regress(const ModelQuery& query,
                             const std::vector<std::string>& examples) const;

  // What the server says of one version of a model.
  struct VersionInfo {
    int64_t version = 0;
    std::string state;  // "AVAILABLE"
    std::string error;  // why it is not, else empty
  };
  // All versions that the server knows of.
  std::vector<VersionInfo> Status(const std::string& model) const;

  // Any method by its bytes: "/tensorflow.serving.PredictionService/Predict". Throws UNIMPLEMENTED
  // by REST.
  std::string Call(const std::string& method, const std::string& request) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::serving

#pragma GCC visibility pop
