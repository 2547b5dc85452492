// The training vectors again, by graphs that Sextant's own optimizers, schedules, averages and
// metrics build.
#pragma once

#include <optional>
#include <string>

#include "sextant/proto/example.pb.h"

namespace sextant::conformance {

// What differs, "" when nothing does; nothing when the case is of another kind, or about reference
// variables, which we do not make.
std::optional<std::string> RunOwnOptimizer(const proto::Example& example);
std::optional<std::string> RunOwnSchedule(const proto::Example& example);
std::optional<std::string> RunOwnMetric(const proto::Example& example);

}  // namespace sextant::conformance
