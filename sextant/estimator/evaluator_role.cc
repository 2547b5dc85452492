// What an evaluator tells others is a note in its file of the ledger, "evaluator":
//
//   waiting          for a checkpoint
//   taking 120       it would evaluate the checkpoint of this step, if no other one does
//   evaluating 120   it has taken it, and evaluates or exports; other evaluators leave it
//   finished 120     evaluated and exported, as the last of the training
//
// Two evaluators that look at the same moment might both take a checkpoint. So each one notes that
// it is taking it and then reads the notes of the others: of two, at least the later one sees the
// note of the other, however slow they are. It gives way to one that evaluates it already and to
// one that is taking it and comes first by name; one that comes later by name it waits for, which
// either gives way or had not seen its note and evaluates. An evaluator that was killed keeps its
// checkpoint for ten minutes.
#include "sextant/estimator/evaluator_role.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/base/wait_notice.h"
#include "sextant/estimator/checkpoint_evaluator.h"
#include "sextant/estimator/done_marker.h"
#include "sextant/estimator/model_dir_lock.h"
#include "sextant/estimator/model_graph.h"
#include "sextant/formats/checkpoint_state.h"

namespace sextant {
namespace {

using EvaluatorClock = std::chrono::steady_clock;

constexpr const char* kState = "evaluator";  // the note
constexpr std::chrono::minutes kClaimLasts{10};

std::string WriterOf(int index, const std::string& eval_name) {
  std::string writer =
      fmt::format("evaluator_{}{}{}", index, eval_name.empty() ? "" : "_", eval_name);
  std::replace(writer.begin(), writer.end(), '/', '_');
  return writer;
}

class EvaluatorRole {
 public:
  EvaluatorRole(const Estimator& estimator, const TrainSpec& train, const EvalSpec& eval,
                const EvaluatorOptions& options)
      : estimator_(estimator),
        train_(train),
        eval_(eval),
        options_(options),
        writer_(WriterOf(estimator.config().task.index, eval.name)),
        evaluator_(estimator, train, eval, writer_),
        training_(estimator_.config().model_dir) {}

  TrainAndEvaluateResult Run() {
    FileSystem::ForPath(model_dir()).CreateDirectories(model_dir());
    SetState("waiting");
    AwaitStart();
    ExportLeftOver();
    while (!Step()) {
      notice_.Say([&] { return Waiting(); });
      Sleep(options_.poll);
    }
    return evaluator_.result();
  }

 private:
  struct Checkpoint {
    std::string path;
    int64_t step = 0;
  };

  const std::string& model_dir() const { return estimator_.model_dir(); }
  Ledger& ledger() { return evaluator_.ledger(); }
  void SetState(const std::string& state) { ledger().SetNote(kState, state); }
  void Sleep(std::chrono::milliseconds time) const {
    SleepUntil(EvaluatorClock::now() + time, estimator_.config().cancellation.get());
  }
  std::string Waiting() {
    const auto last = LastEvaluated();
    return fmt::format("Waiting for a new checkpoint of the chief in {}{}.", model_dir(),
                       last ? fmt::format(" (evaluated: step {})", *last) : "");
  }

  void AwaitStart() {
    if (eval_.start_delay_secs <= 0) return;
    LogInfo("Waiting {:g} secs before starting eval.", eval_.start_delay_secs);
    const auto start =
        EvaluatorClock::now() + std::chrono::duration_cast<EvaluatorClock::duration>(
                                    std::chrono::duration<double>(eval_.start_delay_secs));
    while (EvaluatorClock::now() < start && !IsDone(model_dir(), train_.max_steps)) {
      SleepUntil(std::min(start, EvaluatorClock::now() + options_.poll),
                 estimator_.config().cancellation.get());
    }
  }

  // Evaluates what there is. Whether that was the last.
  bool Step() {
    // Asked first: what is saved until then is found below.
    const bool done = IsDone(model_dir(), train_.max_steps);
    ledger().Refresh();
    for (;;) {
      const auto next = Next(done);
      if (!next) break;
      notice_.Reset();
      if (!Take(next->step)) continue;
      if (evaluator_.Load(next->path)) {
        evaluator_.MeasureLoaded(next->path, next->step);
        evaluator_.ExportEvaluated(next->path, next->step, IsLast(*next, done));
      } else {
        bad_.insert(IdentityOf(next->path));
      }
      SetState("waiting");
      ledger().Refresh();
    }
    return Finish(done);
  }

  // Whether the last checkpoint of the training is evaluated and exported, or nobody will save one.
  bool Finish(bool done) {
    const auto newest = Newest();
    if (!newest) return done;
    const bool last = IsLast(*newest, done);
    if (!(last || ledger().done() == newest->step) || Claimed(newest->step)) return false;
    const Ledger::Evaluation* evaluated = ledger().FindEvaluation(eval_.name, newest->step);
    if (!evaluated) return done;
    evaluator_.result().global_step = newest->step;
    evaluator_.result().metrics = evaluated->metrics;
    if (IsOwn(newest->step) && finished_ != newest->step) {
      SetState(Evaluating(newest->step));  // the chief waits for the export too
      evaluator_.ExportEvaluated(newest->path, newest->step, /*is_final=*/true);
      SetState(fmt::format("finished {}", newest->step));
      finished_ = newest->step;
    }
    return last;
  }
  // Whether the training saves no later one than this. At max_steps its workers may be at work on
  // further steps: one that is going on says itself when it is done.
  bool IsLast(const Checkpoint& checkpoint, bool done) {
    const auto newest = Newest();
    if (!newest || newest->step != checkpoint.step) return false;
    return done || (evaluator_.AtMaxSteps(checkpoint.step) && !training_.InTraining());
  }

  bool IsOwn(int64_t step) {
    const auto& own = ledger().own_evaluations();
    return std::any_of(own.begin(), own.end(), [&](const Ledger::Evaluation& evaluation) {
      return evaluation.name == eval_.name && evaluation.step == step;
    });
  }

  // An evaluation of an earlier process whose exports may not have been made.
  void ExportLeftOver() {
    const auto last = LastEvaluated();
    if (!last || !IsOwn(*last)) return;
    for (const Checkpoint& checkpoint : Checkpoints()) {
      if (checkpoint.step != *last) continue;
      evaluator_.ExportEvaluated(checkpoint.path, *last, /*is_final=*/false);
    }
  }
  std::optional<int64_t> LastEvaluated() {
    std::optional<int64_t> last;
    for (const Ledger::Evaluation& evaluation : ledger().evaluations()) {
      if (evaluation.name == eval_.name) last = std::max(last.value_or(0), evaluation.step);
    }
    return last;
  }

  // Another file of the same name is another checkpoint.
  std::string IdentityOf(const std::string& path) const {
    const std::string index = path + ".index";
    FileSystem& files = FileSystem::ForPath(index);
    try {
      return fmt::format("{}:{}", path, files.Stat(index).mtime_ns);
    } catch (const Error&) {
      return path;  // deleted meanwhile, or of V1
    }
  }

  // Those that are there and not known to be damaged, oldest first.
  std::vector<Checkpoint> Checkpoints() {
    std::vector<Checkpoint> found;
    const auto state = ReadCheckpointState(model_dir());
    if (!state) return found;
    for (const std::string& path : PathsUpTo(*state)) {
      if (!CheckpointExists(path)) continue;
      const std::string identity = IdentityOf(path);
      if (bad_.contains(identity)) continue;
      try {
        const auto [it, added] = steps_.try_emplace(identity, 0);
        if (added) it->second = StepOfCheckpoint(path);
        found.push_back({path, it->second});
      } catch (const Error& e) {
        steps_.erase(identity);
        if (!CheckpointExists(path)) continue;
        LogWarning("{} is skipped: {}", path, e.message());
        bad_.insert(identity);
      }
    }
    return found;
  }
  // Those that the state file names and those beside them: where all checkpoints are kept, the file
  // names the newest alone. Later ones than that are of a training that was set back.
  static std::vector<std::string> PathsUpTo(const CheckpointState& state) {
    std::map<int64_t, std::string> paths;  // by number
    const auto newest = NumberOf(state.latest);
    if (!newest) return state.all;
    const std::string base(BaseName(state.latest.substr(0, state.latest.rfind('-') + 1)));
    const std::string directory(DirectoryName(state.latest));
    for (const std::string& name : FileSystem::ForPath(directory).ListDirectory(directory)) {
      if (!name.starts_with(base) || !name.ends_with(".index")) continue;
      const std::string path = JoinPath(directory, name.substr(0, name.rfind('.')));
      if (const auto number = NumberOf(path); number && *number <= *newest) paths[*number] = path;
    }
    std::vector<std::string> sorted;
    for (const auto& [number, path] : paths) sorted.push_back(path);
    return sorted;
  }
  // Of PREFIX-NUMBER.
  static std::optional<int64_t> NumberOf(const std::string& path) {
    const std::string digits = path.substr(path.rfind('-') + 1);
    if (digits.empty() || digits.size() > 18 ||
        !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      return std::nullopt;
    }
    return std::stoll(digits);
  }
  std::optional<Checkpoint> Newest() {
    const std::vector<Checkpoint> all = Checkpoints();
    if (all.empty()) return std::nullopt;
    return all.back();
  }

  // The one to evaluate now.
  std::optional<Checkpoint> Next(bool done) {
    const bool throttles = eval_.throttle_secs > 0 || eval_.throttle_steps > 0;
    const std::vector<Checkpoint> all = Checkpoints();
    const auto last = LastEvaluated();
    for (const Checkpoint& checkpoint : all) {
      const bool newest = &checkpoint == &all.back();
      if ((throttles || checkpoint.step < last.value_or(0)) && !newest) continue;
      if (ledger().FindEvaluation(eval_.name, checkpoint.step) || Claimed(checkpoint.step)) {
        continue;
      }
      const bool last_of_training = done || ledger().done() == checkpoint.step;
      if (throttles && !last_of_training && evaluator_.Throttled(checkpoint.step)) continue;
      return checkpoint;
    }
    return std::nullopt;
  }

  static std::string Taking(int64_t step) { return fmt::format("taking {}", step); }
  static std::string Evaluating(int64_t step) { return fmt::format("evaluating {}", step); }
  // The evaluators but this one that have noted it, by name.
  std::vector<std::string> OthersIn(const std::string& state) {
    std::vector<std::string> others;
    for (const auto& [writer, noted] : ledger().Notes(kState)) {
      if (writer != writer_ && noted == state && !Expired(writer)) others.push_back(writer);
    }
    return others;
  }
  // Whether another evaluator has taken this step, or is about to.
  bool Claimed(int64_t step) {
    return !OthersIn(Evaluating(step)).empty() || !OthersIn(Taking(step)).empty();
  }
  bool Expired(const std::string& writer) const {
    const std::string path = Ledger::PathIn(model_dir(), writer);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return now - std::chrono::nanoseconds(FileSystem::ForPath(path).Stat(path).mtime_ns) >
           kClaimLasts;
  }
  // Takes it for this evaluator. False: another one has.
  bool Take(int64_t step) {
    SetState(Taking(step));
    for (;; Sleep(options_.poll)) {
      ledger().Refresh();
      const std::vector<std::string> taking = OthersIn(Taking(step));
      if (ledger().FindEvaluation(eval_.name, step) || !OthersIn(Evaluating(step)).empty() ||
          (!taking.empty() && taking.front() < writer_)) {
        SetState("waiting");
        return false;
      }
      if (taking.empty()) break;
    }
    SetState(Evaluating(step));
    return true;
  }

  const Estimator estimator_;
  const TrainSpec& train_;
  const EvalSpec& eval_;
  const EvaluatorOptions options_;
  const std::string writer_;
  CheckpointEvaluator evaluator_;
  TrainingWatch training_;
  WaitNotice notice_;
  std::map<std::string, int64_t> steps_;  // by identity
  std::set<std::string> bad_;             // identities of damaged checkpoints
  std::optional<int64_t> finished_;
};

}  // namespace

TrainAndEvaluateResult RunEvaluator(const Estimator& estimator, const TrainSpec& train,
                                    const EvalSpec& eval, const EvaluatorOptions& options) {
  return EvaluatorRole(estimator, train, eval, options).Run();
}

bool AwaitEvaluator(const std::string& model_dir, int64_t step,
                    const AwaitEvaluatorOptions& options) {
  const auto start = EvaluatorClock::now();
  auto active = start;  // when an evaluator was seen at work last
  WaitNotice notice;
  for (;;) {
    const Ledger ledger(model_dir);
    const auto states = ledger.Notes(kState);
    if (states.empty()) return true;
    bool at_work = false;
    for (const auto& [writer, state] : states) {
      if (state == fmt::format("finished {}", step)) return true;
      at_work |= state.starts_with("taking") || state.starts_with("evaluating");
    }
    const auto now = EvaluatorClock::now();
    if (at_work) active = now;
    if (now - start > options.finish || now - active > options.begin) {
      LogWarning("No evaluator has evaluated the last checkpoint, of step {}, within {} s.", step,
                 std::chrono::duration_cast<std::chrono::seconds>(now - start).count());
      return false;
    }
    notice.Say([&] {
      return fmt::format("Waiting for the evaluator to evaluate the last checkpoint, of step {}.",
                         step);
    });
    SleepUntil(EvaluatorClock::now() + options.poll, options.cancellation.get());
  }
}

}  // namespace sextant
