#include "sextant/data/cifar10.h"

#include <algorithm>

#include "sextant/data/image_functions.h"
#include "sextant/data/named_file.h"
#include "sextant/data/sources.h"

namespace sextant::data {
namespace {

const ExampleSpec& Spec() {
  static const ExampleSpec spec = {
      {.name = "image", .dtype = DType::kString, .shape = {3, 32, 32}, .decode_raw = DType::kUInt8},
      {.name = "label", .dtype = DType::kInt64}};
  return spec;
}

// As the programs want it: images float, labels int32.
Element Made(const Element& parsed, Tensor image) {
  const Tensor& labels = parsed["label"];
  Tensor label(DType::kInt32, labels.shape());
  std::ranges::transform(labels.flat<int64_t>(), label.data<int32_t>(),
                         [](int64_t value) { return static_cast<int32_t>(value); });
  return {{"image", std::move(image)}, {"label", std::move(label)}};
}

Dataset Records(const std::string& split, const std::string& folder) {
  return TFRecordFiles({NamedFile("cifar10", folder, split + ".tfrecords")});
}

}  // namespace

Dataset Cifar10(const std::string& split, const std::string& folder) {
  return Records(split, folder)
      .ParseExamples(Spec())
      .Map([](Element element) { return Made(element, HwcFloats(element["image"])); },
           {.parallel = kAutotune,
            .spec = ElementSpec{{"image", DType::kFloat, {32, 32, 3}},
                                {"label", DType::kInt32, Shape()}}});
}

Dataset DistortedCifar10(const std::string& split, const std::string& folder,
                         const Cifar10TrainOptions& options) {
  return Records(split, folder)
      .Repeat()
      .Shuffle(options.shuffle, {.seed = options.seed})
      .ParseExamples(Spec())
      .Batch(options.batch)
      .Map(
          [](Element batch, MapContext& context) {
            return Made(batch, PadCropFlip(batch["image"], {}, context.random));
          },
          {.parallel = kAutotune, .seed = options.seed});
}

}  // namespace sextant::data
