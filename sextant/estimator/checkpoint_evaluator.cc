#include "sextant/estimator/checkpoint_evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/train/saver.h"

namespace sextant {
namespace {

constexpr const char* kExported = "exported";  // note: the step whose exporters have all run
constexpr const char* kBegun = "train_and_evaluate";

double SystemSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double SecondsSinceTime(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - time).count();
}

}  // namespace

TrainingLedger::TrainingLedger(const Estimator& estimator, const EvalSpec& eval,
                               const std::string& writer)
    : estimator_(estimator), eval_(eval), ledger_(estimator.model_dir(), writer) {}

void TrainingLedger::AfterRestore(const train::SavedCheckpoint& checkpoint) {
  Begin(checkpoint.step);
  KeepBest(checkpoint);
}

bool TrainingLedger::AfterSave(const train::SavedCheckpoint& checkpoint) {
  if (checkpoint.first) Begin(checkpoint.step);
  KeepBest(checkpoint);
  return false;
}

void TrainingLedger::End(const train::SavedCheckpoint& checkpoint) {
  ledger_.SetDone(checkpoint.step);
}

void TrainingLedger::Begin(int64_t step) {
  ledger_.ForgetAfter(step);
  if (!HasBegun()) ledger_.SetNote(kBegun, "begun");
  ledger_.SetDone(std::nullopt);
}

bool TrainingLedger::HasBegun() const { return ledger_.Note(kBegun).has_value(); }

void TrainingLedger::KeepBest(const train::SavedCheckpoint& newest) {
  if (!eval_.keep_best) return;
  ledger_.Refresh();
  const Ledger::Evaluation* best = nullptr;
  for (const Ledger::Evaluation& evaluation : ledger_.evaluations()) {
    if (evaluation.name != eval_.name) continue;
    if (IsBest(eval_.keep_best, evaluation.metrics, best ? &best->metrics : nullptr)) {
      best = &evaluation;
    }
  }
  if (!best) return;
  const std::string base = newest.path.substr(0, newest.path.rfind('-'));
  newest.saver.KeepBest(fmt::format("{}-{}", base, best->step));
}

CheckpointEvaluator::CheckpointEvaluator(const Estimator& estimator, const TrainSpec& train,
                                         const EvalSpec& eval, const std::string& writer)
    : TrainingLedger(estimator, eval, writer), train_(train), system_start_(SystemSeconds()) {}

void CheckpointEvaluator::AfterRestore(const train::SavedCheckpoint& checkpoint) {
  Begin(checkpoint.step);
  // One that was saved because of a signal, between those that are due, is not evaluated.
  const int64_t every = estimator_.config().save_checkpoints_steps.value_or(1);
  const bool due = checkpoint.step > 0 && (every <= 0 || checkpoint.step % every == 0);
  if (due) Evaluate(checkpoint, /*is_final=*/false);
  KeepBest(checkpoint);
}

bool CheckpointEvaluator::AfterSave(const train::SavedCheckpoint& checkpoint) {
  if (checkpoint.first) {
    Begin(checkpoint.step);
  } else {
    // In a cluster others may be at work on steps behind max_steps: End makes the final exports.
    const bool last = estimator_.config().task.local() && AtMaxSteps(checkpoint.step);
    Evaluate(checkpoint, last);
  }
  KeepBest(checkpoint);
  return false;
}

void CheckpointEvaluator::End(const train::SavedCheckpoint& checkpoint) {
  const Ledger::Evaluation* done = ledger_.FindEvaluation(eval_.name, checkpoint.step);
  const EvalResult result =
      done ? done->metrics : Measure(&checkpoint.session, checkpoint.path, checkpoint.step);
  Finish(result, checkpoint.path, checkpoint.step);
}

void CheckpointEvaluator::EndWithoutTraining(const std::string& path, int64_t step) {
  if (ledger_.done() == step || !HasBegun()) return;
  const Ledger::Evaluation* done = ledger_.FindEvaluation(eval_.name, step);
  Finish(done ? done->metrics : Measure(nullptr, path, step), path, step);
}

void CheckpointEvaluator::Check() {
  Build();
  evaluation_->CheckInput();
}

bool CheckpointEvaluator::Load(const std::string& path) {
  if (!evaluation_) Build();
  const double now = SystemSeconds();
  try {
    evaluation_->Load(path);
  } catch (const Error& e) {
    if (!CheckpointExists(path)) {
      LogInfo("{} was deleted before it was evaluated; it is skipped", path);
    } else if (e.code() == Code::kDataLoss || e.code() == Code::kOutOfRange) {
      LogWarning("{} is skipped: {}", path, e.message());
    } else {
      throw;
    }
    return false;
  }
  loaded_at_ = now;
  return true;
}

void CheckpointEvaluator::MeasureLoaded(const std::string& path, int64_t step) {
  Note(evaluation_->OfLoaded(path), step, loaded_at_);
}

void CheckpointEvaluator::ExportEvaluated(const std::string& path, int64_t step, bool is_final) {
  const Ledger::Evaluation* evaluated = ledger_.FindEvaluation(eval_.name, step);
  if (!evaluated) return;
  const EvalResult metrics = evaluated->metrics;
  result_.metrics = metrics;
  try {
    Export(metrics, path, step, is_final);
  } catch (const Error&) {
    if (CheckpointExists(path)) throw;
    LogInfo("{} was deleted before it was exported; it is skipped", path);
  }
}

void CheckpointEvaluator::Build() {
  evaluation_ = std::make_unique<Evaluation>(
      estimator_.state(), eval_.input_fn,
      EvaluateOptions{.steps = eval_.steps, .hooks = eval_.hooks, .name = eval_.name});
}

// By a clock that nobody sets, as far as this process can know: an evaluation of an earlier one
// was before its start, at least.
double CheckpointEvaluator::SecondsSince(const Ledger::Evaluation& evaluation) const {
  if (measured_ && measured_->step == evaluation.step) return SecondsSinceTime(measured_->time);
  return std::max(0.0, system_start_ - evaluation.time) + SecondsSinceTime(start_);
}

bool CheckpointEvaluator::Throttled(int64_t step) const {
  if (AtMaxSteps(step)) return false;
  const auto& history = ledger_.evaluations();
  for (auto it = history.rbegin(); it != history.rend(); ++it) {
    if (it->name != eval_.name || it->step >= step) continue;
    return SecondsSince(*it) < eval_.throttle_secs || step - it->step < eval_.throttle_steps;
  }
  return false;
}

void CheckpointEvaluator::Evaluate(const train::SavedCheckpoint& checkpoint, bool is_final) {
  const int64_t step = checkpoint.step;
  if (const Ledger::Evaluation* done = ledger_.FindEvaluation(eval_.name, step)) {
    result_.metrics = done->metrics;
    Export(result_.metrics, checkpoint.path, step, is_final);
    return;
  }
  if (Throttled(step)) {
    LogInfo("Skip the current checkpoint eval due to throttle ({:g} secs, {} steps).",
            eval_.throttle_secs, eval_.throttle_steps);
    return;
  }
  Export(Measure(&checkpoint.session, checkpoint.path, step), checkpoint.path, step, is_final);
}

EvalResult CheckpointEvaluator::Measure(Session* training, const std::string& path, int64_t step) {
  if (!evaluation_) Build();
  const bool variables_here = training != nullptr && estimator_.config().task.local();
  const EvalResult metrics =
      variables_here ? evaluation_->OfSession(*training, path) : evaluation_->OfCheckpoint(path);
  Note(metrics, step, SystemSeconds());
  return metrics;
}

void CheckpointEvaluator::Note(const EvalResult& metrics, int64_t step, double time) {
  result_.metrics = metrics;
  ledger_.AddEvaluation({eval_.name, step, time, metrics});
  measured_ = {step, Clock::now()};
}

void CheckpointEvaluator::Export(const EvalResult& metrics, const std::string& path, int64_t step,
                                 bool is_final) {
  const std::string mark = std::to_string(step) + (is_final ? " final" : "");
  if (ledger_.Note(kExported) == mark) return;
  result_.exports.clear();
  for (const ExporterRef& exporter : eval_.exporters) {
    const std::string made = exporter->Export(
        {estimator_, JoinPath(estimator_.model_dir(), "export/" + exporter->name()), path, metrics,
         step, is_final, ledger_, &eval_.input_fn});
    if (!made.empty()) result_.exports.push_back(made);
  }
  ledger_.SetNote(kExported, mark);
}

void CheckpointEvaluator::Finish(const EvalResult& metrics, const std::string& path, int64_t step) {
  result_.metrics = metrics;
  Export(metrics, path, step, /*is_final=*/true);
  ledger_.SetDone(step);
}

}  // namespace sextant
