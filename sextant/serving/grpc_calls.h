// GrpcCalls: what each method of TensorFlow Serving's gRPC services does with the bytes of a
// request. Knows no gRPC.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sextant/serving/rest_api.h"

namespace sextant::serving {

// What gRPC tells of a call, beside its bytes.
struct GrpcCallInfo {
  std::string_view method;  // "/tensorflow.serving.PredictionService/Predict"
  std::string_view authorization;
  std::string_view traffic_key;
  Clock::time_point deadline = Clock::time_point::max();
  std::function<bool()> cancelled;
};

class GrpcCalls {
 public:
  explicit GrpcCalls(const ServingParts& parts) : parts_(parts) {}

  // Called once, on any thread, with the bytes of the answer.
  using Done = std::function<void(const Status& status, std::string answer)>;
  // "request" need not outlive the call.
  void Handle(const GrpcCallInfo& info, std::string_view request, Done done) const;

 private:
  void Predict(const GrpcCallInfo& info, std::string_view request, Done done) const;
  void Classify(const GrpcCallInfo& info, std::string_view request, Done done) const;
  void Regress(const GrpcCallInfo& info, std::string_view request, Done done) const;
  void MultiInference(const GrpcCallInfo& info, std::string_view request, Done done) const;
  std::string Metadata(const GrpcCallInfo& info, std::string_view request) const;
  std::string ModelStatus(const GrpcCallInfo& info, std::string_view request) const;
  std::string ReloadConfig(const GrpcCallInfo& info, std::string_view request) const;

  const ServingParts parts_;
};

}  // namespace sextant::serving
