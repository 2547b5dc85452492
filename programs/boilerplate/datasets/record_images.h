// Images in train.tfrecords and validation.tfrecords: what CIFAR10 and MNIST have in common.
#pragma once

#include "boilerplate/datasets/dataset_interface.h"

namespace boilerplate {

class RecordImages : public DatasetInterface {
 public:
  // pixels: the shape of the bytes of an image. name: as `sextant data` calls the data set.
  RecordImages(std::string name, DatasetOptions options, std::vector<int64_t> pixels);

  sextant::Input GetTrainSet() const override;
  sextant::Input GetValidationSet() const override;
  int64_t NumExamples(const std::string& split) const override;

 private:
  sextant::data::Dataset Records(const std::string& split) const;
  sextant::data::Dataset Parsed(const sextant::data::Dataset& records) const;
  sextant::data::Dataset Synthetic() const;

  const std::string name_;
  DatasetOptions options_;
  const std::vector<int64_t> pixels_;
};

}  // namespace boilerplate
