// The training vectors of a golden file: optimizers, learning rate schedules, moving averages,
// gradient clipping and streaming metrics, each as the graph that TensorFlow built and what it
// computed step by step.
#pragma once

#include <string>

#include "tests/conformance/recorded_case.h"

namespace sextant::conformance {

// Runs every case of the file whose name contains "filter"; what kind of case it is follows from
// its features. Prints one line per failure.
Counts RunTrainingCases(const std::string& path, const std::string& filter);

}  // namespace sextant::conformance
