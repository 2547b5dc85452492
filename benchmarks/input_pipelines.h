// Pipelines of the module data, measured as peers/input_tf.py measures tf.data: the modes have the
// same names.
#pragma once

#include <cstdint>
#include <string>

#include "benchmarks/report.h"

namespace sextant::bench {

// Records of CIFAR-10's form, read for ever: parsed, decoded, distorted, shuffled, in batches.
void MeasureRecordPipelines(const Options& options, const std::string& records, int64_t batch);

// Passes over census rows: "folder" has adult.data, which is cleaned and repeated "copies" times in
// a file in "work".
void MeasureCsv(const Options& options, const std::string& folder, const std::string& work,
                int copies, int64_t batch);

}  // namespace sextant::bench
