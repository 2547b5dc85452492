#include "sextant/estimator/train_and_evaluate.h"

#include <fmt/format.h>

#include <chrono>
#include <set>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/estimator/evaluation.h"
#include "sextant/estimator/ledger.h"
#include "sextant/estimator/model_dir_lock.h"
#include "sextant/estimator/training.h"
#include "sextant/train/checkpoint_listener.h"
#include "sextant/train/saver.h"

namespace sextant {
namespace {

constexpr const char* kExported = "exported";  // note: the step whose exporters have all run
constexpr const char* kBegun = "train_and_evaluate";

using Clock = std::chrono::steady_clock;

double SystemSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void CheckSpecs(const TrainSpec& train, const EvalSpec& eval) {
  if (!train.input_fn) throw InvalidArgument("TrainSpec.input_fn is not set");
  if (!eval.input_fn) throw InvalidArgument("EvalSpec.input_fn is not set");
  if (train.max_steps.value_or(1) <= 0) {
    throw InvalidArgument("TrainSpec.max_steps must be greater than 0, not {}", *train.max_steps);
  }
  if (eval.steps.value_or(1) <= 0) {
    throw InvalidArgument("EvalSpec.steps must be greater than 0, not {}", *eval.steps);
  }
  if (eval.start_delay_secs < 0 || eval.throttle_secs < 0 || eval.throttle_steps < 0) {
    throw InvalidArgument("EvalSpec's delays and throttles must not be negative");
  }
  std::set<std::string> names;
  for (const ExporterRef& exporter : eval.exporters) {
    if (!exporter) throw InvalidArgument("EvalSpec.exporters has an empty entry");
    if (!names.insert(exporter->name()).second) {
      throw InvalidArgument("EvalSpec.exporters has two exporters called '{}'", exporter->name());
    }
  }
}

void LogStart(const RunConfig& config, const EvalSpec& eval) {
  LogInfo("Running training and evaluation locally (non-distributed).");
  if (config.log_style == LogStyle::k2017) {
    LogInfo(
        "Start train and evaluate loop. The evaluate will happen after {:g} secs "
        "(eval_spec.throttle_secs) or training is finished.",
        eval.throttle_secs);
    return;
  }
  const auto text = [](const auto& value) { return value ? fmt::format("{}", *value) : "None"; };
  LogInfo(
      "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint "
      "frequency is determined based on RunConfig arguments: save_checkpoints_steps {} or "
      "save_checkpoints_secs {}.",
      text(config.save_checkpoints_steps), text(config.save_checkpoints_secs));
}

// Evaluates checkpoints of a training and has them exported; the ledger knows what is done.
class CheckpointEvaluator : public train::CheckpointListener {
 public:
  CheckpointEvaluator(const Estimator& estimator, const TrainSpec& train, const EvalSpec& eval)
      : estimator_(estimator), train_(train), eval_(eval), ledger_(estimator.model_dir()) {}

  void AfterRestore(const train::SavedCheckpoint& checkpoint) override {
    Begin(checkpoint.step);
    // One that was saved because of a signal, between those that are due, is not evaluated.
    const int64_t every = estimator_.config().save_checkpoints_steps.value_or(1);
    const bool due = checkpoint.step > 0 && (every <= 0 || checkpoint.step % every == 0);
    if (due) Evaluate(checkpoint, /*is_final=*/false);
    KeepBest(checkpoint);
  }
  bool AfterSave(const train::SavedCheckpoint& checkpoint) override {
    if (checkpoint.first) {
      Begin(checkpoint.step);
    } else {
      Evaluate(checkpoint, AtMaxSteps(checkpoint.step));
    }
    KeepBest(checkpoint);
    return false;
  }
  void End(const train::SavedCheckpoint& checkpoint) override {
    const Ledger::Evaluation* done = ledger_.FindEvaluation(eval_.name, checkpoint.step);
    const EvalResult result =
        done ? done->metrics : Measure(&checkpoint.session, checkpoint.path, checkpoint.step);
    Finish(result, checkpoint.path, checkpoint.step);
  }
  // The training had come to its end, but what follows it had not.
  void EndWithoutTraining(const std::string& path, int64_t step) {
    if (ledger_.done() == step || !ledger_.Note(kBegun)) return;
    const Ledger::Evaluation* done = ledger_.FindEvaluation(eval_.name, step);
    Finish(done ? done->metrics : Measure(nullptr, path, step), path, step);
  }
  // Finds what is wrong with the evaluation before the training begins.
  void Check() {
    Build();
    evaluation_->CheckInput();
  }
  TrainAndEvaluateResult& result() { return result_; }

 private:
  void Build() {
    evaluation_ = std::make_unique<Evaluation>(
        estimator_.state(), eval_.input_fn,
        EvaluateOptions{.steps = eval_.steps, .hooks = eval_.hooks, .name = eval_.name});
  }

  // There is a training that the ledger is about, whose later steps have not been run.
  void Begin(int64_t step) {
    ledger_.ForgetAfter(step);
    if (!ledger_.Note(kBegun)) ledger_.SetNote(kBegun, "begun");
    ledger_.SetDone(std::nullopt);
  }

  bool AtMaxSteps(int64_t step) const { return train_.max_steps && step >= *train_.max_steps; }

  // By a clock that nobody sets, as far as this process can know: an evaluation of an earlier one
  // was before its start, at least.
  double SecondsSince(const Ledger::Evaluation& evaluation) const {
    if (measured_ && measured_->step == evaluation.step) return SecondsSince(measured_->time);
    return std::max(0.0, system_start_ - evaluation.time) + SecondsSince(start_);
  }
  static double SecondsSince(Clock::time_point time) {
    return std::chrono::duration<double>(Clock::now() - time).count();
  }

  bool Throttled(int64_t step) const {
    if (AtMaxSteps(step)) return false;
    const auto& history = ledger_.evaluations();
    for (auto it = history.rbegin(); it != history.rend(); ++it) {
      if (it->name != eval_.name || it->step >= step) continue;
      return SecondsSince(*it) < eval_.throttle_secs || step - it->step < eval_.throttle_steps;
    }
    return false;
  }

  void Evaluate(const train::SavedCheckpoint& checkpoint, bool is_final) {
    const int64_t step = checkpoint.step;
    if (const Ledger::Evaluation* done = ledger_.FindEvaluation(eval_.name, step)) {
      result_.metrics = done->metrics;
      Export(done->metrics, checkpoint.path, step, is_final);
      return;
    }
    if (Throttled(step)) {
      LogInfo("Skip the current checkpoint eval due to throttle ({:g} secs, {} steps).",
              eval_.throttle_secs, eval_.throttle_steps);
      return;
    }
    Export(Measure(&checkpoint.session, checkpoint.path, step), checkpoint.path, step, is_final);
  }

  // The ledger has the evaluations of earlier processes too.
  void KeepBest(const train::SavedCheckpoint& newest) const {
    if (!eval_.keep_best) return;
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

  // With the variables of the training session, or, where there is none, of the checkpoint.
  EvalResult Measure(Session* training, const std::string& path, int64_t step) {
    if (!evaluation_) Build();
    result_.metrics =
        training ? evaluation_->OfSession(*training, path) : evaluation_->OfCheckpoint(path);
    ledger_.AddEvaluation({eval_.name, step, SystemSeconds(), result_.metrics});
    measured_ = {step, Clock::now()};
    return result_.metrics;
  }

  void Export(const EvalResult& metrics, const std::string& path, int64_t step, bool is_final) {
    const std::string mark = std::to_string(step) + (is_final ? " final" : "");
    if (ledger_.Note(kExported) == mark) return;
    result_.exports.clear();
    for (const ExporterRef& exporter : eval_.exporters) {
      const std::string made = exporter->Export(
          {estimator_, JoinPath(estimator_.model_dir(), "export/" + exporter->name()), path,
           metrics, step, is_final, ledger_});
      if (!made.empty()) result_.exports.push_back(made);
    }
    ledger_.SetNote(kExported, mark);
  }

  void Finish(const EvalResult& metrics, const std::string& path, int64_t step) {
    result_.metrics = metrics;
    Export(metrics, path, step, /*is_final=*/true);
    ledger_.SetDone(step);
  }

  Estimator estimator_;
  const TrainSpec& train_;
  const EvalSpec& eval_;
  Ledger ledger_;
  struct Measured {
    int64_t step;
    Clock::time_point time;
  };
  const Clock::time_point start_ = Clock::now();
  const double system_start_ = SystemSeconds();
  std::optional<Measured> measured_;  // by this process, last
  std::unique_ptr<Evaluation> evaluation_;
  TrainAndEvaluateResult result_;
};

}  // namespace

TrainAndEvaluateResult TrainAndEvaluate(const Estimator& estimator, const TrainSpec& train,
                                        const EvalSpec& eval) {
  CheckSpecs(train, eval);
  const RunConfig& config = estimator.config();
  if (!config.task.local()) {
    throw Unimplemented(
        "TF_CONFIG makes this process task {} {} of a cluster, which is not run yet; unset it to "
        "train in this process",
        config.task.type, config.task.index);
  }
  if (config.save_checkpoints_steps.value_or(config.save_checkpoints_secs.value_or(600)) <= 0) {
    throw InvalidArgument(
        "TrainAndEvaluate evaluates checkpoints, but the RunConfig asks for none; set "
        "save_checkpoints_steps or save_checkpoints_secs");
  }
  const ModelDirLock lock(config.model_dir);
  const auto evaluator = std::make_shared<CheckpointEvaluator>(estimator, train, eval);
  if (const auto newest = CheckpointToResume(config.model_dir)) {
    const int64_t start = StepOfCheckpoint(*newest);
    if (train.max_steps && start >= *train.max_steps) {
      evaluator->EndWithoutTraining(*newest, start);
      evaluator->result().global_step = start;
      return evaluator->result();
    }
  }
  LogStart(config, eval);
  const int64_t step =
      RunTraining(estimator.state(), train.input_fn,
                  {.max_steps = train.max_steps, .hooks = train.hooks, .listeners = {evaluator}},
                  {.found = [&] { evaluator->Check(); }});
  evaluator->result().global_step = step;
  return evaluator->result();
}

}  // namespace sextant
