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

int64_t MonitoredSession::EndStep() {
  std::optional<RunToken>& token = tokens_->next;
  if (token->contributed) {
    options_.cluster->UsedToken(token->token);
    token.reset();
    NextToken();
  }
  if (token) return token->token.step;
  const Variable step = GetGlobalStep(graph_);
  return step ? session_->Run(step.value()).AsInt64() : 0;
}

}  // namespace sextant::train
