#include "boilerplate/models/resnet.h"

namespace sx = sextant;

namespace boilerplate {

std::string ResNet::WhyNot(const ImageShape& images) const {
  if (images.height % 4 == 0 && images.width % 4 == 0) return "";
  return "its shortcuts halve images twice: height and width must be multiples of 4";
}

// The net scales pixels of 0 … 255 itself.
sx::Output ResNet::Logits(sx::Output images, int64_t classes, bool training) const {
  const sx::VariableScope scope("resnet");
  return sx::models::ResnetCifarLogits(
      (images + 0.5) * 255.0,
      {.units_per_stage = sx::models::UnitsPerStage(20), .classes = classes}, training);
}

}  // namespace boilerplate
