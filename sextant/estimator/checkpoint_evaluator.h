// CheckpointEvaluator: evaluates checkpoints of a training and has them exported. The ledger knows
// what is done, so that each is done once, whichever process is killed in between.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sextant/estimator/evaluation.h"
#include "sextant/estimator/ledger.h"
#include "sextant/estimator/train_and_evaluate.h"
#include "sextant/train/checkpoint_listener.h"

namespace sextant {

// Keeps the ledger of a training that other processes evaluate: of the chief.
class TrainingLedger : public train::CheckpointListener {
 public:
  // Changes go to the ledger's file of this writer.
  TrainingLedger(const Estimator& estimator, const EvalSpec& eval, const std::string& writer = "");

  void AfterRestore(const train::SavedCheckpoint& checkpoint) override;
  bool AfterSave(const train::SavedCheckpoint& checkpoint) override;
  // The training has ended here: evaluators need not wait any longer for a later checkpoint.
  void End(const train::SavedCheckpoint& checkpoint) override;

  Ledger& ledger() { return ledger_; }

 protected:
  // There is a training that the ledger is about, whose later steps have not been run.
  void Begin(int64_t step);
  bool HasBegun() const;
  // The ledger has the evaluations of earlier and other processes too.
  void KeepBest(const train::SavedCheckpoint& newest);

  Estimator estimator_;
  const EvalSpec& eval_;
  Ledger ledger_;
};

// Evaluates in this process: with the variables of the training's session where they are here, with
// those of the checkpoint where they are on parameter servers.
class CheckpointEvaluator : public TrainingLedger {
 public:
  // The specs outlive it.
  CheckpointEvaluator(const Estimator& estimator, const TrainSpec& train, const EvalSpec& eval,
                      const std::string& writer = "");

  void AfterRestore(const train::SavedCheckpoint& checkpoint) override;
  bool AfterSave(const train::SavedCheckpoint& checkpoint) override;
  void End(const train::SavedCheckpoint& checkpoint) override;
  // The training had come to its end, but what follows it had not.
  void EndWithoutTraining(const std::string& path, int64_t step);
  // Finds what is wrong with the evaluation before the training begins.
  void Check();

  // Of evaluators, which have no training session. False, with a line in the log, when the
  // checkpoint is damaged or was deleted meanwhile.
  bool Load(const std::string& path);
  // What is loaded.
  void MeasureLoaded(const std::string& path, int64_t step);
  // Runs the exporters on an evaluation that the ledger has, unless they have run. A checkpoint
  // that is deleted meanwhile is left, with a line in the log.
  void ExportEvaluated(const std::string& path, int64_t step, bool is_final);

  bool AtMaxSteps(int64_t step) const { return train_.max_steps && step >= *train_.max_steps; }
  // Whether the throttle leaves out a checkpoint of this step at this moment.
  bool Throttled(int64_t step) const;
  TrainAndEvaluateResult& result() { return result_; }

 private:
  using Clock = std::chrono::steady_clock;

  void Build();
  double SecondsSince(const Ledger::Evaluation& evaluation) const;
  void Evaluate(const train::SavedCheckpoint& checkpoint, bool is_final);
  // With the variables of the training session, or, where there is none, of the checkpoint.
  EvalResult Measure(Session* training, const std::string& path, int64_t step);
  void Note(const EvalResult& metrics, int64_t step, double time);
  void Export(const EvalResult& metrics, const std::string& path, int64_t step, bool is_final);
  void Finish(const EvalResult& metrics, const std::string& path, int64_t step);

  const TrainSpec& train_;
  struct Measured {
    int64_t step;
    Clock::time_point time;
  };
  const Clock::time_point start_ = Clock::now();
  const double system_start_;
  double loaded_at_ = 0;              // when the checkpoint was read
  std::optional<Measured> measured_;  // by this process, last
  std::unique_ptr<Evaluation> evaluation_;
  TrainAndEvaluateResult result_;
};

}  // namespace sextant
