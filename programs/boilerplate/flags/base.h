// Flags of every run: where files are, how long and on what it trains.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/sextant.h"

namespace boilerplate {

struct BaseFlags {
  std::string data_dir;   // "": data/<data set>
  std::string model_dir;  // "": checkpoints/<time>
  bool clean = false;
  int64_t train_epochs = 40;
  int64_t epochs_between_evals = 1;
  double stop_threshold = 0;  // 0: none
  int64_t batch_size = 16;    // of all devices together
  int64_t num_gpus = 0;       // DefineBaseFlags: 1 where there is one
  std::vector<std::string> hooks = {"LoggingTensorHook"};
  std::string export_dir;
};
void DefineBaseFlags(sextant::Flags& flags, BaseFlags* values);

}  // namespace boilerplate
