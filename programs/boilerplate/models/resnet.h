// ResNet-20 for small images (version 1, identity shortcuts).
#pragma once

#include "boilerplate/models/model_interface.h"

namespace boilerplate {

class ResNet : public ModelInterface {
 public:
  std::string WhyNot(const ImageShape& images) const override;
  sextant::Output Logits(sextant::Output images, int64_t classes, bool training) const override;
  double learning_rate() const override { return 1e-3; }
};

}  // namespace boilerplate
