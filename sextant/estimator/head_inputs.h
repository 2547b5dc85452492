// Labels and weights of a batch, checked, for heads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/estimator/model_fn.h"

namespace sextant::heads {

// The labels of a head: those by its name, else the only ones. Throws INVALID_ARGUMENT when there
// are none.
const Features::Value& LabelsOf(const Features& labels, const std::string& head);
// Dense labels [batch, dimension]; a vector becomes [batch, 1].
Output DenseLabels(const Features& labels, const std::string& head, int64_t dimension);

// Labels that fail unless they are numbers in [0, last]. "given" are the labels as the input gave
// them, in the same order: the error names the first that is wrong.
Output CheckRange(Output labels, Output given, int64_t last);
// Ids of words; another word is an error.
Output LookUpLabels(Output words, const std::vector<std::string>& vocabulary);
// Words of ids.
Output WordsOf(Output ids, const std::vector<std::string>& vocabulary);

// The weights in a feature as floats [batch, 1]; per_label: [batch, n] is fine too. None for "".
Output WeightsOf(const Features& features, const std::string& column, bool per_label = false);

}  // namespace sextant::heads
