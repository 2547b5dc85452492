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
Element Made(const Element& parsed, Tensor image, MapContext& context) {
  const Tensor& labels = parsed["label"];
  Tensor label = context.NewField("label", DType::kInt32, labels.shape());
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
      .Map(
          [](const Element& parsed, MapContext& context) {
            Tensor image = context.NewField("image", DType::kFloat, {32, 32, 3});
            HwcFloats(parsed["image"], &image);
            return Made(parsed, std::move(image), context);
          },
          {.parallel = kAutotune,
           .spec = ElementSpec{{"image", DType::kFloat, {32, 32, 3}},
                               {"label", DType::kInt32, Shape()}}});
}

Dataset DistortedCifar10(const std::string& split, const std::string& folder,
                         const Cifar10TrainOptions& options) {
  // Without a seed the order, another one each time, says which image is cropped how; a training
  // that is resumed goes on with both.
  return Records(split, folder)
      .Repeat()
      .Shuffle(options.shuffle, {.seed = options.seed})
      .ParseExamples(Spec())
      .Batch(options.batch)
      .Map(
          [](const Element& batch, MapContext& context) {
            const int64_t rows = batch["image"].dim(0);
            Tensor images = context.NewField("image", DType::kFloat, {rows, 32, 32, 3});
            PadCropFlip(batch["image"], {}, context.random, &images);
            return Made(batch, std::move(images), context);
          },
          {.parallel = kAutotune,
           .seed = options.seed.value_or(0),
           .spec = ElementSpec{{"image", DType::kFloat, {-1, 32, 32, 3}},
                               {"label", DType::kInt32, {-1}}}});
}

}  // namespace sextant::data
