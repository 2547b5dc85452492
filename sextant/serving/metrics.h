// Metrics: counters and histograms of a server, in Prometheus' text form. TensorFlow Serving's
// names, with ours beside them where it has none:
//
//   :tensorflow:serving:request_count{model_name, status}
//   :tensorflow:serving:request_latency{model_name, API, entrypoint}            µs
//   :tensorflow:serving:runtime_latency{model_name, API, runtime}               µs
//   :tensorflow:serving:request_example_counts{model_name}
//   :tensorflow:serving:batching_session:queuing_latency{model_name}            µs
//   :tensorflow:serving:batching_session:processed_batch_size{model_name}
//   :tensorflow:serving:batching_session:padding_size{model_name}
//   sextant_requests{model, version, signature, method, api, code}
//   sextant_serialize_latency{model}                                            µs
//   sextant_loaded_bytes{model, version}, sextant_loads, sextant_failed_loads, sextant_unloads
//   sextant_waiting_requests, sextant_connections, sextant_bytes_in_flight
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/serving/batcher.h"
#include "sextant/serving/model_manager.h"

namespace sextant::serving {

struct RequestReport {
  std::string_view model, signature;  // "" where the request did not get so far
  int64_t version = 0;
  std::string_view label = {};  // by which the version was asked for, if by one
  std::string_view method;      // "Predict"
  std::string_view api;         // "REST", "GRPC"
  Code code = Code::kOk;
  std::chrono::nanoseconds latency{0};
  std::chrono::nanoseconds serialize{0};  // writing of the answer
};

// What is true at the moment of asking.
struct ServerGauges {
  ModelManager::Counts counts;
  std::vector<std::shared_ptr<const Servable>> loaded;
  int64_t waiting = 0, connections = 0, bytes_in_flight = 0;
};

// Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  void Request(const RequestReport& report);
  void Batch(const BatchReport& report);
  std::string Text(const ServerGauges& gauges);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::serving
