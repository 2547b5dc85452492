// What a MonitoredSession of a cluster does between its steps: it joins again when the epoch has
// ended, waits for slower workers and says where it is.
#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/train/monitored_session.h"
#include "sextant/train/session_tokens.h"

namespace sextant::train {

// The step and the checkpoint that a chief goes on from which finds its model on the servers.
void MonitoredSession::TakeOver() {
  saver_->Recover(options_.checkpoint_dir);
  restored_from_ = LatestCheckpoint(options_.checkpoint_dir).value_or("");
  LogInfo("The parameter servers hold the model, at step {}: nothing is restored.", global_step());
}

bool MonitoredSession::Recover(const Error& error) {
  if (!options_.cluster->EndsEpoch(error)) return false;
  LogWarning("{}; joining the training again", error.message());
  assigned_ = false;
  if (tokens_) tokens_->next.reset();
  restored_from_.clear();
  if (!JoinEpoch()) {
    stop_ = true;
    throw OutOfRange("the training has ended while this task was joining it again");
  }
  run_->ForgetGlobalStep();
  if (!assigned_ || last_saved_ < 0) return true;
  last_saved_ = std::min(last_saved_, epoch_step_);
  last_path_ = restored_from_;
  if (options_.after_rollback) options_.after_rollback(epoch_step_);
  return true;
}

void MonitoredSession::AwaitSlowest() {
  try {
    options_.cluster->AwaitSlowest();
  } catch (const Error& e) {
    if (!Recover(e)) throw;
  }
}

// For the chief's next checkpoint, which is due at about this step too.
void MonitoredSession::NoteRunState() {
  if (options_.is_chief || note_every_.steps <= 0 || stop_) return;
  const int64_t interval = global_step() / note_every_.steps;
  if (std::exchange(noted_interval_, interval) == interval) return;
  try {
    options_.cluster->NoteRunState(global_step(), RunState::StateOf(*session_, options_.hooks));
  } catch (const Error& e) {
    if (!options_.cluster->EndsEpoch(e)) throw;  // the next step finds the same error
  }
}

}  // namespace sextant::train
