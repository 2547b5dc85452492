// The census program as the peers' scripts have it: files and model.
#pragma once

#include <string>

#include "benchmarks/census_input.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/estimator/estimator.h"

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

// The wide & deep classifier.
Estimator CensusEstimator(const std::string& model_dir, int threads);
ServingInputFn CensusReceiver();

// Peak resident memory of the process in MB.
double PeakMegabytes();

}  // namespace sextant::bench
