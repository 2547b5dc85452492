// MNIST, as `sextant data mnist` writes it.
#pragma once

#include "boilerplate/datasets/record_images.h"

namespace boilerplate {

class Mnist : public RecordImages {
 public:
  explicit Mnist(DatasetOptions options);
  ImageShape shape() const override { return {28, 28, 1, 10}; }
  sextant::data::Element ParseFn(const sextant::data::Element& example) const override;
};

}  // namespace boilerplate
