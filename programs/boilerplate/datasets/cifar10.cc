#include "boilerplate/datasets/cifar10.h"

namespace sx = sextant;

namespace boilerplate {

Cifar10::Cifar10(DatasetOptions options)
    : RecordImages("cifar10", std::move(options), {3, 32, 32}) {}

// Pixels come channel by channel.
sx::data::Element Cifar10::ParseFn(const sx::data::Element& example) const {
  sx::Tensor image(sx::DType::kFloat, sx::Shape{32, 32, 3});
  sx::data::HwcFloats(example["image"], &image);
  for (float& pixel : image.flat<float>()) pixel = pixel / 255 - 0.5f;
  const auto label = static_cast<int32_t>(example["label"].scalar<int64_t>());
  return {{"image", image}, {"label", sx::Tensor(label)}};
}

}  // namespace boilerplate
