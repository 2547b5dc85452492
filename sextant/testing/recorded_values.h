// What the cases of the op case tables give, recorded from TensorFlow 2.15 or, for ops that it
// lacks, computed in float64 by tools/golden/case_values.py.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sextant/testing/op_case.h"

namespace sextant::testing {

struct RecordedOutput {
  Tensor values;  // all elements, or of a large output every stride-th in a vector
  int64_t stride = 1;
};

struct RecordedCase {
  std::vector<RecordedOutput> outputs;  // those that CaseGraph::outputs() has
  std::string none;  // why there are no outputs: "random", "no case of TensorFlow"
};

// By the text of the case. Throws what reading throws.
std::map<std::string, RecordedCase> ReadRecordedCases(const std::string& path);

// Whether the case gives what was recorded, up to rounding: an empty string, or what differs.
std::string CheckValues(const OpCase& op_case, const RecordedCase& recorded);

}  // namespace sextant::testing
