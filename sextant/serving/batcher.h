// Batcher: runs requests. Those that wait for the same signature are joined to one batch, rows of
// several requests behind each other, and its outputs are cut again.
//
// A request whose run is known to be short is run by its caller, with others that the caller has
// read by then: handing it over would take longer. Others are queued, a queue per signature, and
// run by threads of the batcher, the longest waiting first. By default a batch does not wait to
// become fuller: it holds what came while the threads were busy. With a latency target it waits
// where that has proved to raise the rate, within half of the target. Joined requests run as
// batches of sizes that were prepared when the model was loaded.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/serving/batch_clock.h"
#include "sextant/serving/model_config.h"
#include "sextant/serving/servable.h"

namespace sextant::serving {

struct InferenceRequest {
  std::shared_ptr<const Servable> servable;  // held while the request lives
  const ServableSignature* signature = nullptr;
  std::vector<Tensor> inputs;  // in the order of its inputs; no value: the default
  std::vector<int> wanted;     // the outputs to compute, by their places, ascending; none: all
  Clock::time_point deadline = Clock::time_point::max();
  std::function<bool()> cancelled;  // asked before the run; may be empty
  // Has a function called on the thread that submits the request, once it has submitted all others
  // that it can read without waiting. May be empty.
  std::function<void(std::function<void()>)> again;
};

// Called once. "outputs" are those wanted, in their order.
using InferenceDone = std::function<void(const Status& status, std::vector<Tensor> outputs)>;

// What happened in one run, for metrics.
struct BatchReport {
  const Servable* servable = nullptr;
  const ServableSignature* signature = nullptr;
  int64_t requests = 0, rows = 0, padding = 0;
  std::chrono::nanoseconds queued{0};  // of the request that waited longest
  std::chrono::nanoseconds run{0};
};

// How many threads run batches.
int64_t BatchThreads(const BatchingConfig& config);

class Batcher {
 public:
  using Observe = std::function<void(const BatchReport& report)>;
  explicit Batcher(const BatchingConfig& config, Observe observe = {},
                   std::shared_ptr<BatchClock> clock = std::make_shared<BatchClock>());
  // Requests that wait end with UNAVAILABLE.
  ~Batcher();

  // "done" is called before this returns, in a function given to request.again, or later on a
  // thread of the batcher. Ends with
  // INVALID_ARGUMENT when inputs do not fit, UNAVAILABLE when too many requests wait,
  // DEADLINE_EXCEEDED, CANCELLED, or what the run throws.
  void Submit(InferenceRequest request, InferenceDone done);
  // The same, waited for.
  std::vector<Tensor> Run(InferenceRequest request);

  // Throws UNAVAILABLE when the queue of the signature is so full that a request of one row would
  // be refused: called before a request is parsed, so that refusing is cheap.
  void CheckRoom(const ServableSignature& signature) const;

  // By the model's name; 0: none.
  void SetLatencyTarget(const std::string& model, std::chrono::nanoseconds target);
  int64_t num_waiting() const;  // requests

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::serving
