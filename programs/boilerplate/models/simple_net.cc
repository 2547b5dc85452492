#include "boilerplate/models/simple_net.h"

namespace sx = sextant;

namespace boilerplate {

std::string SimpleNet::WhyNot(const ImageShape& images) const {
  if (images.height >= 4 && images.width >= 4) return "";
  return "its two poolings halve images of at least 4x4 pixels";
}

sx::Output SimpleNet::Logits(sx::Output images, int64_t classes, bool training) const {
  return sx::models::SimpleNetLogits(images, {.classes = classes}, training);
}

}  // namespace boilerplate
