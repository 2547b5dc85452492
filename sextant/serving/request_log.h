// RequestLog: a sample of the requests and their answers, as TFRecord files of PredictionLogs,
// which serve as warm-up requests too.
//
// Files are PREFIX-TIME-NUMBER.tfrecord; a new one begins after 64 MB. A thread of its own writes
// them. What comes faster than the disk takes it, or does not fit on it, is dropped: requests never
// wait for the log.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/serving/model_config.h"
#include "sextant/serving/servable.h"

namespace sextant::serving {

// Thread-safe.
class RequestLog {
 public:
  RequestLog();
  // Writes what is waiting.
  ~RequestLog();

  // Which models are logged, where to, and which share of their requests.
  void SetModels(const std::vector<ModelConfig>& models);
  // Whether the next request of the model is to be logged: an even share of them.
  bool Sampled(std::string_view model);

  // In the order of the signature's inputs and outputs.
  void Predict(const Servable& servable, const ServableSignature& signature,
               std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  // A request for Classify or Regress.
  void Examples(const Servable& servable, const ServableSignature& signature,
                std::span<const std::string> examples);
  // Returns when all that was logged before is in the files.
  void Flush();
  int64_t num_dropped() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::serving
