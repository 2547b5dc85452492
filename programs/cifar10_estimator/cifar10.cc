#include "cifar10_estimator/cifar10.h"

namespace sx = sextant;

namespace cifar10 {
namespace {

// Crop, flip, brightness, contrast, standardise: in this order.
sx::data::Element Distort(const sx::data::Element& example, sx::data::MapContext& context) {
  sx::Tensor image = sx::data::RandomCrop(example["image"], 24, 24, context.random);
  image = sx::data::RandomFlip(image, context.random);
  image = sx::data::RandomBrightness(image, 63, context.random);
  image = sx::data::RandomContrast(image, 0.2f, 1.8f, context.random);
  return {{"image", sx::data::Standardize(image)}, {"label", example["label"]}};
}

sx::data::Element Crop(const sx::data::Element& example) {
  const sx::Tensor image = sx::data::CropOrPad(example["image"], 24, 24);
  return {{"image", sx::data::Standardize(image)}, {"label", example["label"]}};
}

}  // namespace

const std::vector<std::string> kClassNames = {"airplane", "automobile", "bird",  "cat",  "deer",
                                              "dog",      "frog",       "horse", "ship", "truck"};

void DataSet::Check() const {
  sx::data::Element example;
  if (!sx::data::Cifar10(subset, data_dir).MakeIterator()->Next(&example)) {
    throw sx::InvalidArgument("{} holds no images", sx::JoinPath(data_dir, subset + ".tfrecords"));
  }
}

sx::Input DataSet::MakeBatch(int64_t batch_size) const {
  const bool training = subset == "train";
  const int64_t buffer = kTrainImages * 4 / 10 + 3 * batch_size;  // so that it shuffles well
  if (training && use_distortion && !crop_24) {
    return sx::data::DistortedCifar10(subset, data_dir,
                                      {.batch = batch_size, .shuffle = buffer, .seed = seed})
        .Prefetch();
  }
  sx::data::Dataset dataset = sx::data::Cifar10(subset, data_dir).Repeat();
  // Without a seed the order, another one each time, says which image is distorted how.
  if (training && !seed) dataset = dataset.Shuffle(buffer);
  if (crop_24) {
    const sx::data::MapOptions parallel{.parallel = sx::data::kAutotune, .seed = seed.value_or(0)};
    dataset =
        training && use_distortion ? dataset.Map(Distort, parallel) : dataset.Map(Crop, parallel);
  }
  if (training && seed) dataset = dataset.Shuffle(buffer, {.seed = seed});
  return dataset.Batch(batch_size).Prefetch();
}

}  // namespace cifar10
