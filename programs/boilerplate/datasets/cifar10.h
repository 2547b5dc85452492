// CIFAR-10, as `sextant data cifar10` or generate_cifar10_tfrecords writes it.
#pragma once

#include "boilerplate/datasets/record_images.h"

namespace boilerplate {

class Cifar10 : public RecordImages {
 public:
  explicit Cifar10(DatasetOptions options);
  ImageShape shape() const override { return {32, 32, 3, 10}; }
  sextant::data::Element ParseFn(const sextant::data::Element& example) const override;
};

}  // namespace boilerplate
