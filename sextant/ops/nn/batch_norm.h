// FusedBatchNorm: batch normalization with statistics, scale and offset in one op.
#pragma once

#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API FusedBatchNormOptions {
  float epsilon = 1e-4f;
  // Weight of the batch's statistics in batch_mean and batch_variance; the inputs mean and variance
  // have the rest. At 1 these are not read in training and may be empty.
  float exponential_avg_factor = 1.0f;
  std::string data_format = "NHWC";  // "NCHW", "NDHWC", "NCDHW"
  bool is_training = true;           // false: normalizes by the given mean and variance
};

struct SEXTANT_API FusedBatchNormResult {
  Output y;
  Output batch_mean;
  Output batch_variance;  // with Bessel's correction
  // For the gradient: mean, variance without the correction, and an unused one.
  Output reserve_space_1, reserve_space_2, reserve_space_3;
};

// y = scale * (x - mean) / sqrt(variance + epsilon) + offset per channel (op FusedBatchNormV3).
// Statistics are float also where x is half or bfloat16.
FusedBatchNormResult FusedBatchNorm(Output x, Output scale, Output offset, Output mean,
                                    Output variance, const FusedBatchNormOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
