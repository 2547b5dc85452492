// What a data set implements: to parse a record, and to give batches for training and validation.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sextant/sextant.h"

namespace boilerplate {

// Of the images of a data set: what a model must fit.
struct ImageShape {
  int64_t height = 0, width = 0, channels = 0, classes = 0;
};

struct DatasetOptions {
  std::string data_dir;
  int64_t batch_size = 16;  // of one device
  int parallel = sextant::data::kAutotune;
  bool synthetic = false;            // random images instead of files
  std::optional<int64_t> seed = {};  // of the shuffle
};

class DatasetInterface {
 public:
  virtual ~DatasetInterface() = default;
  virtual ImageShape shape() const = 0;

  // {"image": bytes, "label": number} of a tf.Example becomes {"image": float [height, width,
  // channels] of -0.5 … 0.5, "label": int32}.
  virtual sextant::data::Element ParseFn(const sextant::data::Element& example) const = 0;
  // Shuffled, in batches, without end.
  virtual sextant::Input GetTrainSet() const = 0;
  // One pass, in batches.
  virtual sextant::Input GetValidationSet() const = 0;
  // How many examples a pass over the data of "train" or "validation" has. Throws NOT_FOUND without
  // the data, INVALID_ARGUMENT when it has none.
  virtual int64_t NumExamples(const std::string& split) const = 0;
};

}  // namespace boilerplate
