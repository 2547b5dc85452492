// Estimator: trains, evaluates, runs and exports one model.
//
//   Estimator estimator(ModelFn, {.model_dir = "runs/mnist"});
//   estimator.Train(train_input, {.max_steps = 6000});
//   double accuracy = estimator.Evaluate(test_input)["accuracy"];
//
// Its state is in files of model_dir: another Estimator on the same directory, in another process
// too, resumes from the newest checkpoint. Copies share their state. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/estimator/input_fn.h"
#include "sextant/estimator/model_fn.h"
#include "sextant/estimator/serving_input.h"
#include "sextant/estimator/warm_start.h"

#pragma GCC visibility push(default)

namespace sextant {

namespace train {
class CheckpointListener;
}

// Metrics by name, with "loss" and "global_step".
using EvalResult = std::map<std::string, double>;

struct SEXTANT_API TrainOptions {
  std::optional<int64_t> steps = {};      // more than are done already
  std::optional<int64_t> max_steps = {};  // until the global step is this
  std::vector<train::HookRef> hooks = {};
  std::vector<std::shared_ptr<train::CheckpointListener>> listeners = {};
};

struct SEXTANT_API EvaluateOptions {
  std::optional<int64_t> steps = {};  // batches; none: all there are
  std::vector<train::HookRef> hooks = {};
  std::string checkpoint_path = {};  // "": the newest
  std::string name = {};             // results are written to model_dir/eval_NAME, else eval
};

struct SEXTANT_API PredictOptions {
  std::vector<std::string> keys = {};  // none: all predictions
  std::vector<train::HookRef> hooks = {};
  std::string checkpoint_path = {};
  bool single_examples = true;  // false: whole batches
};

struct SEXTANT_API SavedModelExportOptions {
  std::map<std::string, std::string> assets_extra = {};  // path in assets.extra/ → file
  bool as_text = false;
  std::string checkpoint_path = {};
  bool strip_default_attrs = true;
};

// The predictions of a model for an input, one after the other.
class SEXTANT_API Predictions {
 public:
  struct State;
  explicit Predictions(std::unique_ptr<State> state);
  Predictions(Predictions&&) noexcept;
  ~Predictions();
  // False at the end.
  bool Next(data::Element* prediction);

 private:
  std::unique_ptr<State> state_;
};

class SEXTANT_API Estimator {
 public:
  struct State;
  // Throws what Resolve of run_config.h throws.
  Estimator(ModelFn model_fn, RunConfig config = {}, HParams params = {},
            WarmStart warm_start = {});

  // Until the data ends, a hook asks to stop, or the steps are done; a training that is as far
  // as max_steps already returns at once. One that was interrupted goes on with the data where it
  // was; data that has been read to its end begins anew, so that a loop over epochs can call this
  // for each. The global step where it ended. Throws CANCELLED, with
  // the checkpoint it has saved in the message, when RunConfig::cancellation is cancelled;
  // FAILED_PRECONDITION, naming the process, when another one trains in the model_dir.
  int64_t Train(const InputFn& input_fn, const TrainOptions& options = {});
  // Throws NOT_FOUND when there is no checkpoint.
  EvalResult Evaluate(const InputFn& input_fn, const EvaluateOptions& options = {});
  Predictions Predict(const InputFn& input_fn, const PredictOptions& options = {});
  // To base_dir/<seconds since the epoch>, or a number larger than all that are there; the path.
  std::string ExportSavedModel(const std::string& base_dir, const ServingInputFn& receiver,
                               const SavedModelExportOptions& options = {});

  const RunConfig& config() const;  // as it was made with
  const HParams& params() const;    // as it was made with
  const std::string& model_dir() const { return config().model_dir; }
  const ModelFn& model_fn() const;                      // as it was made with
  std::optional<std::string> LatestCheckpoint() const;  // in model_dir
  // Of the newest checkpoint. Throw NOT_FOUND when there is none.
  std::vector<std::string> VariableNames() const;
  Tensor VariableValue(const std::string& name) const;

  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace sextant

#pragma GCC visibility pop
