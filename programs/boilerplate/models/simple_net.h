// Two convolutions and two dense layers.
#pragma once

#include "boilerplate/models/model_interface.h"

namespace boilerplate {

class SimpleNet : public ModelInterface {
 public:
  std::string WhyNot(const ImageShape& images) const override;
  sextant::Output Logits(sextant::Output images, int64_t classes, bool training) const override;
  double learning_rate() const override { return 1e-4; }
};

}  // namespace boilerplate
