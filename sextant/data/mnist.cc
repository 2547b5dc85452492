#include "sextant/data/mnist.h"

#include <algorithm>

#include "sextant/data/named_file.h"
#include "sextant/data/sources.h"

namespace sextant::data {
namespace {

Element Scaled(Element element) {
  const Tensor pixels = element["image"];
  Tensor image(DType::kFloat, pixels.shape());
  std::ranges::transform(pixels.flat<uint8_t>(), image.data<float>(),
                         [](uint8_t pixel) { return static_cast<float>(pixel) * (1.0f / 255.0f); });
  element.Set("image", std::move(image));
  return element;
}

}  // namespace

Dataset Mnist(const std::string& split, const std::string& folder) {
  return TFRecordFiles({NamedFile("mnist", folder, split + ".tfrecords")})
      .ParseExamples({{.name = "image",
                       .dtype = DType::kString,
                       .shape = {28, 28, 1},
                       .decode_raw = DType::kUInt8},
                      {.name = "label", .dtype = DType::kInt64}})
      .Map(Scaled, {.spec = ElementSpec{{"image", DType::kFloat, {28, 28, 1}},
                                        {"label", DType::kInt64, Shape()}}});
}

}  // namespace sextant::data
