#include "sextant/train/session_tokens.h"

#include "sextant/base/error.h"
#include "sextant/ops/state/variable.h"
#include "sextant/train/global_step.h"

namespace sextant::train {

// Waits until the other workers have done their part of the step before; without a token the
// training is over.
void MonitoredSession::NextToken() {
  for (;;) {
    try {
      if (const auto token = options_.cluster->TakeToken()) {
        tokens_->next = RunToken{*token};
      } else {
        stop_ = true;
      }
      return;
    } catch (const Error& e) {
      if (!Recover(e)) throw;
    }
  }
}

RunToken* MonitoredSession::BeginStep() {
  std::optional<RunToken>& token = tokens_->next;
  if (!token) NextToken();
  if (!token) throw OutOfRange("the training has ended while this task waited for a step");
  token->contributed = token->stale = false;
  return &*token;
}

// Tells that the step is done, and where this task is now.
void MonitoredSession::ReturnToken() {
  std::optional<RunToken>& token = tokens_->next;
  std::string state;
  if (tokens_->synchronous.deterministic) state = RunState::StateOf(*session_, options_.hooks);
  options_.cluster->UsedToken(token->token, state);
  token.reset();
}

int64_t MonitoredSession::EndStep() {
  std::optional<RunToken>& token = tokens_->next;
  if (token->contributed) {
    ReturnToken();
    NextToken();
  }
  if (token) return token->token.step;
  const Variable step = GetGlobalStep(graph_);
  return step ? session_->Run(step.value()).AsInt64() : 0;
}

// Where this task goes on: in deterministic training exactly where it was, at the step that the
// model is at, whatever it had begun since.
void MonitoredSession::ResumeOwnState() {
  const bool exact = tokens_ && tokens_->synchronous.deterministic;
  if (options_.is_chief && !exact) return;
  const std::string state = options_.cluster->TakeRunState();
  RunState::ApplyState(state.empty() && exact ? tokens_->initial_state : state, *session_,
                       options_.hooks);
  if (exact) run_->ForgetData();
}

}  // namespace sextant::train
