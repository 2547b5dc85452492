// Evaluation: computes the metrics of a model, once or repeatedly as its variables change.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sextant/estimator/model_graph.h"

namespace sextant {

class EventWriter;

// The graph and the session live as long as it does. Used by one thread at a time.
class Evaluation {
 public:
  Evaluation(const Estimator::State& state, const InputFn& input_fn, EvaluateOptions options);
  ~Evaluation();

  // Throws when files of the input are missing, when it has no batch and when its first one cannot
  // be read, if that is known within seconds. The next evaluation goes on from there, so that of a
  // pipe nothing is lost.
  void CheckInput();
  // With the values of a checkpoint: reads them, then evaluates. It may be deleted in between.
  EvalResult OfCheckpoint(const std::string& path);
  void Load(const std::string& path);
  EvalResult OfLoaded(const std::string& path) { return Run(path); }
  // With the variables of a session that trains the model: they are shared, not copied. "path"
  // names the checkpoint that holds the same values.
  EvalResult OfSession(Session& training, const std::string& path);

 private:
  void MakeSession();
  void Share(Session& training);
  EvalResult Run(const std::string& path);
  [[noreturn]] void ThrowNoBatch() const;
  void Write(const EvalResult& result, int64_t step, const std::string& path);

  const Estimator::State& state_;
  const EvaluateOptions options_;
  std::unique_ptr<ModelGraph> model_;
  std::vector<train::HookRef> hooks_;
  NamedMetrics metrics_;
  Operation local_init_;
  std::unique_ptr<Session> session_;  // a new one for each evaluation whose queues have been closed
  bool shared_ = false;
  bool has_begun_input_ = false;         // CheckInput, for the next evaluation
  std::unique_ptr<EventWriter> events_;  // made with the first result
};

}  // namespace sextant
