// The op vectors across tasks: what is fed stays on one task of a cluster, the rest runs on
// another.
#pragma once

#include <string>

#include "tests/conformance/recorded_case.h"

namespace sextant::conformance {

// Runs the forward graph of every case of the file whose name contains "filter" here and on two
// tasks that speak gRPC: what is as recorded here must have the same bits there. Cases that fail
// here, or fetch what cannot leave its process, are skipped.
Counts RunRemoteOpCases(const std::string& path, const std::string& filter);

}  // namespace sextant::conformance
