// The census program as the peers' scripts have it: files, input and model.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/base/temporary_directory.h"
#include "sextant/estimator/estimator.h"
#include "sextant/estimator/input_fn.h"

namespace sextant::bench {

// The cleaned files of a folder with adult.data and adult.test, in a folder that goes with it.
class CensusFiles {
 public:
  explicit CensusFiles(const std::string& data);

  const std::string& folder() const { return folder_.path(); }
  std::string train() const { return folder() + "/train.csv"; }
  std::string test() const { return folder() + "/test.csv"; }

 private:
  const TemporaryDirectory folder_;
};

// Style "line": every row parsed by itself, then shuffled; "batched": lines shuffled, then parsed
// batch by batch.
Input CensusInput(const std::string& path, int64_t batch, bool shuffle, const std::string& style);

// The wide & deep classifier.
Estimator CensusEstimator(const std::string& model_dir, int threads);
ServingInputFn CensusReceiver();

// Peak resident memory of the process in MB.
double PeakMegabytes();

}  // namespace sextant::bench
