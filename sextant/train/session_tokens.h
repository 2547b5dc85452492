// The tokens of a MonitoredSession in synchronous training (runtime/cluster.h).
#pragma once

#include <optional>
#include <string>

#include "sextant/runtime/cluster.h"
#include "sextant/runtime/run_token.h"
#include "sextant/train/monitored_session.h"

namespace sextant::train {

struct MonitoredSession::Tokens {
  ClusterSynchronous synchronous;
  std::optional<RunToken> next;  // of the next step
  std::string initial_state;     // run state of this task before its first step, if deterministic
};

}  // namespace sextant::train
