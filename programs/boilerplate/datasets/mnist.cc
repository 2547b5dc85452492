#include "boilerplate/datasets/mnist.h"

#include <algorithm>

namespace sx = sextant;

namespace boilerplate {

Mnist::Mnist(DatasetOptions options) : RecordImages("mnist", std::move(options), {28, 28, 1}) {}

sx::data::Element Mnist::ParseFn(const sx::data::Element& example) const {
  sx::Tensor image(sx::DType::kFloat, sx::Shape{28, 28, 1});
  std::ranges::transform(example["image"].flat<uint8_t>(), image.data<float>(),
                         [](uint8_t pixel) { return static_cast<float>(pixel) / 255 - 0.5f; });
  const auto label = static_cast<int32_t>(example["label"].scalar<int64_t>());
  return {{"image", image}, {"label", sx::Tensor(label)}};
}

}  // namespace boilerplate
