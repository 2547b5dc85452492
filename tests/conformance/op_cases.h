// The op vectors of a golden file: one TFRecord of Examples, each a graph with feeds and the values
// TensorFlow computed.
#pragma once

#include <string>

#include "sextant/runtime/session.h"
#include "tests/conformance/recorded_case.h"

namespace sextant::conformance {

// Runs every case of the file whose name contains "filter", in up to three ways: the graph as it
// is; our own gradients of it; the gradient graph that TensorFlow built. Prints one line per
// failure or skip.
Counts RunOpCases(const std::string& path, const std::string& filter,
                  const SessionOptions& options = {});

}  // namespace sextant::conformance
