// ResNet for 32x32 images (version 1, identity shortcuts): 6 n + 2 layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/nn/layers.h"
#include "sextant/train/optimizer.h"

#pragma GCC visibility push(default)

namespace sextant::models {

struct SEXTANT_API ResnetCifarParams {
  int64_t units_per_stage = 7;  // n: 7 gives ResNet-44
  std::vector<int64_t> widths = {16, 32, 64};
  int64_t classes = 11;
  float batch_norm_decay = 0.997f;
  float batch_norm_epsilon = 1e-5f;
  std::string batch_norm_name = "BatchNorm";  // of variables: contrib's; or "batch_normalization"
  std::string data_format = "NHWC";           // in which it computes; images come as NHWC
  layers::Activation activation = {};         // default: ReLU
  bool scale_pixels = true;                   // x / 128 - 1 first; not for standardised images
  bool log_shapes = false;  // "image after unit SCOPE/: (?, 16, 32, 32)", 25 such lines
};

// images: [batch, height, width, 3], usually 32 by 32, numbers 0 … 255. Variables
// conv2d[_k]/kernel, batch_norm_name[_k]/… and dense/… in the current VariableScope; nodes in the
// name scopes stage[_k]/residual_v1[_j].
Output ResnetCifarLogits(Output images, const ResnetCifarParams& params, bool training);

// Mean cross entropy with the labels, int32 [batch], and weight_decay · Σ ½‖v‖² of the variables.
Output ResnetCifarLoss(Output logits, Output labels, const std::vector<Variable>& variables,
                       float weight_decay);

// The rate falls to a tenth after 82 epochs of 45,000 images, to a hundredth after 123 and to a
// five-hundredth after 300. Throws INVALID_ARGUMENT for a batch that is more than an epoch.
train::LearningRate ResnetCifarSchedule(float rate, int64_t batch_size, int64_t num_workers);

// The deepest one that was published has 1,202 layers.
constexpr int64_t kMostResnetCifarLayers = 6002;
// n of a depth 6 n + 2. Throws INVALID_ARGUMENT for other depths, and beyond the most.
int64_t UnitsPerStage(int64_t layers);

}  // namespace sextant::models

#pragma GCC visibility pop
