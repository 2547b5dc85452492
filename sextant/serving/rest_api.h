// RestApi: TensorFlow Serving's REST interface, with /healthz and /readyz beside it.
//
// Beyond the contract: an empty signature name means the only signature where there is no
// serving_default, the header X-Traffic-Key keeps a client at one version of a traffic split, and a
// body of type application/octet-stream is the value of the only input: one string (such as a
// serialized Example), or rows of numbers as they lie in memory. Then ?signature_name=... names the
// signature.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "sextant/net/http_server.h"
#include "sextant/serving/batcher.h"
#include "sextant/serving/model_manager.h"

namespace sextant::serving {

class Access;
class Metrics;
class RequestLog;

struct RestApiOptions {
  std::chrono::milliseconds timeout{30000};  // of a request
  bool cors = false;
  std::string metrics_path;  // "": none
  std::function<std::string()> metrics_text;
};

// What the functions of a server share. All outlive the interfaces.
struct ServingParts {
  ModelManager* models = nullptr;
  Batcher* batcher = nullptr;
  const Access* access = nullptr;  // null: everyone may do everything
  Metrics* metrics = nullptr;      // null: none are kept
  RequestLog* log = nullptr;       // null: none is kept
  // Follows a new configuration. Throws, and changes nothing, where it cannot.
  std::function<void(const std::vector<ModelConfig>& models)> set_models = {};
  const std::atomic<bool>* draining = nullptr;
};

class RestApi {
 public:
  RestApi(const RestApiOptions& options, const ServingParts& parts)
      : options_(options), parts_(parts) {}

  // Answers the request, now or later.
  void Handle(net::HttpRequest& request, const net::HttpResponder& responder) const;

 private:
  struct Call;
  void Route(net::HttpRequest& request, const std::shared_ptr<Call>& call) const;
  void Predict(net::HttpRequest& request, const std::shared_ptr<Call>& call) const;
  void ClassifyOrRegress(net::HttpRequest& request, const std::shared_ptr<Call>& call) const;
  // What was wrong with values is best told with a request that works.
  static Status WithSample(const Call& call, const Status& status);
  // Counts the request, and gives the reply its last form.
  net::HttpReply Finish(const Call& call, const Status& status, net::HttpReply reply,
                        std::chrono::nanoseconds serialize = {}) const;

  const RestApiOptions options_;
  const ServingParts parts_;
};

// The HTTP status that stands for a code.
int HttpStatusOf(Code code);

}  // namespace sextant::serving
