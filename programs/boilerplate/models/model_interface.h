// What a model implements: logits of images.
#pragma once

#include "boilerplate/datasets/dataset_interface.h"

namespace boilerplate {

class ModelInterface {
 public:
  virtual ~ModelInterface() = default;
  // Why the model cannot take such images; "" when it can.
  virtual std::string WhyNot(const ImageShape& images) const = 0;
  // images: [batch, height, width, channels] of -0.5 … 0.5; gives [batch, classes].
  virtual sextant::Output Logits(sextant::Output images, int64_t classes, bool training) const = 0;
  virtual double learning_rate() const = 0;  // of Adam
};

}  // namespace boilerplate
