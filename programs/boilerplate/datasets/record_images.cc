#include "boilerplate/datasets/record_images.h"

namespace sx = sextant;

namespace boilerplate {
namespace {

constexpr int64_t kShuffleBuffer = 50000;
constexpr int64_t kSyntheticExamples = 512;

}  // namespace

RecordImages::RecordImages(std::string name, DatasetOptions options, std::vector<int64_t> pixels)
    : name_(std::move(name)), options_(std::move(options)), pixels_(std::move(pixels)) {
  if (options_.data_dir.empty()) options_.data_dir = "data/" + name_;
}

sx::data::Dataset RecordImages::Records(const std::string& split) const {
  const std::string path = sx::JoinPath(options_.data_dir, split + ".tfrecords");
  if (!sx::FileSystem::ForPath(path).Exists(path)) {
    throw sx::NotFound("{}: no such file; make it with `sextant data {} --out {}`", path, name_,
                       options_.data_dir);
  }
  return sx::data::TFRecordFiles({path});
}

sx::data::Dataset RecordImages::Parsed(const sx::data::Dataset& records) const {
  const ImageShape image = shape();
  return records
      .ParseExamples({{.name = "image",
                       .dtype = sx::DType::kString,
                       .shape = pixels_,
                       .decode_raw = sx::DType::kUInt8},
                      {.name = "label", .dtype = sx::DType::kInt64}})
      .Map([this](const sx::data::Element& example) { return ParseFn(example); },
           {.parallel = options_.parallel,
            .spec = sx::data::ElementSpec{
                {"image", sx::DType::kFloat, {image.height, image.width, image.channels}},
                {"label", sx::DType::kInt32, sx::Shape()}}});
}

// Grey images, brighter the higher the class, so that there is something to learn.
sx::data::Dataset RecordImages::Synthetic() const {
  const ImageShape image = shape();
  return sx::data::Range(kSyntheticExamples)
      .Map(
          [image](const sx::data::Element& element, sx::data::MapContext& context) {
            const int64_t label = element["value"].scalar<int64_t>() % image.classes;
            sx::Tensor pixels(sx::DType::kFloat,
                              sx::Shape{image.height, image.width, image.channels});
            const float mean = static_cast<float>(label) / static_cast<float>(image.classes) - 0.5f;
            for (float& pixel : pixels.flat<float>()) {
              pixel = mean + 0.1f * static_cast<float>(sx::UniformFloat(context.random.Next()[0]));
            }
            return sx::data::Element{{"image", pixels},
                                     {"label", sx::Tensor(static_cast<int32_t>(label))}};
          },
          {.seed = options_.seed.value_or(0)});
}

// Records are shuffled before they are parsed: the buffer holds them, not 491 MB of floats, and
// they come from the page cache in every pass.
sx::Input RecordImages::GetTrainSet() const {
  const sx::data::ShuffleOptions shuffle{.seed = options_.seed};
  const sx::data::Dataset examples =
      options_.synthetic ? Synthetic().Shuffle(kShuffleBuffer, shuffle)
                         : Parsed(Records("train").Shuffle(kShuffleBuffer, shuffle));
  return examples.Batch(options_.batch_size).Repeat().Prefetch();
}

sx::Input RecordImages::GetValidationSet() const {
  const sx::data::Dataset examples =
      options_.synthetic ? Synthetic() : Parsed(Records("validation"));
  return examples.Batch(options_.batch_size).Prefetch();
}

int64_t RecordImages::NumExamples(const std::string& split) const {
  if (options_.synthetic) return kSyntheticExamples;
  int64_t count = 0;
  const auto records = Records(split).MakeIterator();
  for (sx::data::Element record; records->Next(&record);) ++count;
  if (count > 0) return count;
  throw sx::InvalidArgument("{}.tfrecords holds no examples",
                            sx::JoinPath(options_.data_dir, split));
}

}  // namespace boilerplate
