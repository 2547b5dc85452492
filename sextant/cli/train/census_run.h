// For tests: a small census model, trained in a directory of its own.
#pragma once

#include <functional>
#include <string>

#include "sextant/cli/train/train_command.h"

namespace sextant::cli {

class CensusRun {
 public:
  // Makes the directory with a synthetic set of 400 and 100 rows in data/.
  explicit CensusRun(const std::string& name);
  ~CensusRun();

  const std::string& directory() const { return directory_; }
  std::string data() const { return directory_ + "/data"; }
  std::string model_dir() const { return directory_ + "/model"; }
  // Writes a file and gives its path.
  std::string Write(const std::string& name, const std::string& text) const;

  // 20 steps of 20 rows; `hparams` as in HParams::Parse. What is printed.
  std::string Train(const std::string& model = "wide_deep", const std::string& hparams = "") const;
  TrainFlags flags() const;
  // Exports what was trained with this receiver; the directory of the SavedModel.
  std::string Export(const std::string& receiver) const;

 private:
  const std::string directory_;
};

// The message of the Error that fn throws; "" when it throws none.
std::string MessageOf(const std::function<void()>& fn);

}  // namespace sextant::cli
