#include "sextant/train/rewind_on_nan.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/graph/scope.h"
#include "sextant/train/saver.h"

namespace sextant::train {
namespace {

class RewindHook : public Hook {
 public:
  RewindHook(Output loss, std::string directory, RewindOptions options)
      : loss_(loss), directory_(std::move(directory)), options_(std::move(options)) {}

  // The state of the run (run_state.h) is no variable yet: data and random numbers go on.
  void Begin() override { saver_.emplace(CurrentGraph(), SaverOptions{.scope = "rewind"}); }
  void BeforeRun(RunContext& run) override { run.Fetch(loss_); }
  void AfterRun(RunContext& run) override {
    const double loss = run.Value(loss_).AsDouble();
    if (std::isfinite(loss)) {
      just_restored_.clear();
      return;
    }
    const int64_t step = run.global_step();
    if (done_ >= options_.times) Fail(fmt::format("was so {} times", done_ + 1));
    const std::string checkpoint = NextCheckpoint();
    saver_->Restore(run.session(), checkpoint);
    run.ForgetGlobalStep();
    just_restored_ = checkpoint;
    ++done_;
    LogWarning("The loss {} is {} at step {}: going on from {} with the next batch ({} of {})",
               loss_.name(), loss, step, checkpoint, done_, options_.times);
    if (options_.after) options_.after(run.global_step());
  }

  std::string name() const override { return "rewind_on_nan"; }
  std::string SaveState() const override { return std::to_string(done_); }
  void RestoreState(const std::string& bytes) override { done_ = std::stoll(bytes); }

 private:
  std::string NextCheckpoint() const {
    std::vector<std::string> all;
    if (const auto state = ReadCheckpointState(directory_)) all = state->all;
    if (!just_restored_.empty()) {
      all.erase(std::find(all.begin(), all.end(), just_restored_), all.end());
    }
    std::erase_if(all, [](const std::string& prefix) { return !CheckpointExists(prefix); });
    if (all.empty()) Fail("and there is no checkpoint to go on from");
    return all.back();
  }
  [[noreturn]] void Fail(const std::string& why) const {
    throw Internal(
        "the loss {} is not a number {}; lower the learning rate, clip gradients, or look for "
        "divisions by zero and logarithms of zero in the model",
        loss_.name(), why);
  }

  const Output loss_;
  const std::string directory_;
  const RewindOptions options_;
  std::optional<Saver> saver_;
  int64_t done_ = 0;
  std::string just_restored_;  // no good step since
};

}  // namespace

HookRef RewindOnNan(Output loss, std::string checkpoint_dir, const RewindOptions& options) {
  return std::make_shared<RewindHook>(loss, std::move(checkpoint_dir), options);
}

}  // namespace sextant::train
