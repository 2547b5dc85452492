// The loop that both training programs run: steps, lines, summaries, checkpoints.
#pragma once

#include <functional>
#include <string>

#include "sextant/sextant.h"

namespace cifar10 {

struct LoopOptions {
  std::string train_dir;
  int64_t max_steps = 0;
  int64_t batch_size = 128;  // of a tower
  int64_t num_towers = 1;
  sextant::SessionOptions session = {};
};

struct Training {
  sextant::Output loss;
  sextant::Operation train;
  sextant::Output summaries;
};

// Throws INVALID_ARGUMENT for "", FAILED_PRECONDITION when the directory holds anything but an
// earlier training.
void CheckTrainDir(const std::string& train_dir);
// Checks, deletes the earlier training and makes the directory anew.
void RemakeTrainDir(const std::string& train_dir);

// Trains the current graph. Throws INTERNAL when the loss is not a number.
void RunTrainingLoop(const Training& training, const LoopOptions& options);

// Doubles the batch of a tower until a step of the training that `build` builds for it ends with
// RESOURCE_EXHAUSTED, and prints the largest that fits.
void FindBatchSize(const std::function<Training(int64_t batch_size)>& build,
                   const sextant::SessionOptions& session_options);

// "2016-03-12 17:01:02.345678"
std::string Now();

}  // namespace cifar10
