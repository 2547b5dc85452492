// GrpcCalls: what each method of TensorFlow Serving's gRPC services does with the bytes of a
// request. Knows no gRPC.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sextant/serving/rest_api.h"

namespace sextant::proto {
class Input;
class ModelSpec;
}  // namespace sextant::proto

namespace sextant::serving {

// What gRPC tells of a call, beside its bytes.
struct GrpcCallInfo {
  std::string_view method;  // "/tensorflow.serving.PredictionService/Predict"
  std::string_view authorization;
  std::string_view traffic_key;
  Clock::time_point deadline = Clock::time_point::max();
  std::function<bool()> cancelled;
};

// What is counted of a call, as far as it got.
struct CountedCall {
  Metrics* metrics = nullptr;
  const char* method = "";
  std::shared_ptr<const Servable> servable = {};
  const ServableSignature* signature = nullptr;
  std::string label = {};
  Clock::time_point begun = Clock::now();

  void Count(const Status& status, std::chrono::nanoseconds serialize = {}) const;
};

class GrpcCalls {
 public:
  explicit GrpcCalls(const ServingParts& parts) : parts_(parts) {}

  // Called once, on any thread, with the bytes of the answer.
  using Done = std::function<void(const Status& status, std::string answer)>;
  // "request" need not outlive the call.
  void Handle(const GrpcCallInfo& info, std::string_view request, Done done) const;

 private:
  void Predict(const GrpcCallInfo& info, std::string_view request, CountedCall& call,
               Done done) const;
  void Classify(const GrpcCallInfo& info, std::string_view request, CountedCall& call,
                Done done) const;
  void Regress(const GrpcCallInfo& info, std::string_view request, CountedCall& call,
               Done done) const;
  void MultiInference(const GrpcCallInfo& info, std::string_view request, CountedCall& call,
                      Done done) const;
  void FindServable(const proto::ModelSpec& spec, const GrpcCallInfo& info,
                    CountedCall& call) const;
  // The Examples of a request for Classify or Regress, logged where that is wanted.
  std::vector<Tensor> TakeExamples(const proto::Input& input, const CountedCall& call) const;
  std::string Metadata(const GrpcCallInfo& info, std::string_view request) const;
  std::string ModelStatus(const GrpcCallInfo& info, std::string_view request) const;
  std::string ReloadConfig(const GrpcCallInfo& info, std::string_view request) const;

  const ServingParts parts_;
};

}  // namespace sextant::serving
