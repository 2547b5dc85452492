// RestClient: what client.h does, over TensorFlow Serving's REST interface.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sextant/serving/client.h"

namespace sextant::serving {

// The code that stands behind an HTTP status other than 200.
Code CodeOfHttpStatus(int status);

// Thread-safe: each call has a connection for itself.
class RestClient {
 public:
  // REQUIRES: the address is "http://HOST:PORT" or "https://HOST:PORT". Throws INVALID_ARGUMENT.
  explicit RestClient(const ClientOptions& options);
  ~RestClient();

  // JSON does not tell the types of outputs, so the signature is asked for once.
  PredictAnswer Predict(const ModelQuery& query, const NamedTensors& inputs);
  std::vector<std::vector<std::pair<std::string, float>>> Classify(
      const ModelQuery& query, const std::vector<std::string>& examples);
  std::vector<float> Regress(const ModelQuery& query, const std::vector<std::string>& examples);
  std::vector<Client::VersionInfo> Status(const std::string& model);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::serving
