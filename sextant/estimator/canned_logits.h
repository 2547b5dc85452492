// The logits of canned models, in the current variable scope ("linear", "dnn").
#pragma once

#include "sextant/estimator/canned_models.h"

namespace sextant {

// Throw INVALID_ARGUMENT, naming the field, for options that do not fit.
void CheckLinear(const LinearModelFnOptions& options);
void CheckDNN(const DNNModelFnOptions& options);

// [batch, units].
Output LinearLogits(const ModelFnArgs& args, const LinearModelFnOptions& options, int64_t units);
Output DNNLogits(const ModelFnArgs& args, const DNNModelFnOptions& options, int64_t units);

// How much of the tensor is zero, and its distribution, as "TAG/…".
void SummarizeLayer(const std::string& tag, Output values);

}  // namespace sextant
