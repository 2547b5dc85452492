// The flags of cifar10_main: two sets of names and defaults, and the start-up checks.
#pragma once

#include <optional>
#include <string>

#include "sextant/sextant.h"

namespace cifar10 {

struct Options {
  std::string data_dir, job_dir;
  std::string variable_strategy = "CPU", tower_device = "GPU", data_format = "channels_first";
  bool is_cpu_ps = true;
  int64_t num_gpus = 1, num_layers = 44, train_steps = 80000;
  int64_t train_batch_size = 128, eval_batch_size = 100;
  double momentum = 0.9, weight_decay = 2e-4, learning_rate = 0.1;
  double batch_norm_decay = 0.997, batch_norm_epsilon = 1e-5;
  bool use_distortion_for_training = true, crop_24 = false;
  bool run_experiment = false, sync = false, log_device_placement = false;
  bool force_gpu_compatible = false;  // of no use here
  int64_t num_intra_threads = 0;
  int64_t num_inter_threads = 0;  // of no use, as in the original
  std::optional<int64_t> num_workers, seed;
  bool underscored = false;  // the older set of flags, with its defaults
};

// Declares the flags; they set the options when they are parsed.
void AddFlags(sextant::Flags& flags, Options& options);

// Fills in what is not given and depends on other flags. Throws INVALID_ARGUMENT, or
// FAILED_PRECONDITION when GPUs are asked for and none is there.
void Check(const sextant::Flags& flags, Options& options);

// Whether the older flags are used: "--data_dir", not "--data-dir".
bool IsUnderscored(int argc, char** argv);

}  // namespace cifar10
