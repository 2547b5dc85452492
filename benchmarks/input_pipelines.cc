#include "benchmarks/input_pipelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "sextant/base/file_system.h"
#include "sextant/data/census.h"
#include "sextant/data/image_functions.h"
#include "sextant/data/sources.h"

namespace sextant::bench {
namespace {

using data::Dataset;
using data::Element;

constexpr int64_t kShuffle = 18000;  // and three batches: 0.4 of an epoch as cifar10 counts it

data::ExampleSpec Spec() {
  return {
      {.name = "image", .dtype = DType::kString, .shape = {3, 32, 32}, .decode_raw = DType::kUInt8},
      {.name = "label", .dtype = DType::kInt64}};
}

// Of one image or of a batch.
Tensor NewImage(const Element& parsed, data::MapContext& context) {
  Shape shape{32, 32, 3};
  if (parsed["image"].rank() == 4) shape.Insert(0, parsed["image"].dim(0));
  return context.NewField("image", DType::kFloat, shape);
}

Element WithImage(const Element& parsed, Tensor image, data::MapContext& context) {
  const Tensor& labels = parsed["label"];
  Tensor label = context.NewField("label", DType::kInt32, labels.shape());
  std::ranges::transform(labels.flat<int64_t>(), label.data<int32_t>(),
                         [](int64_t value) { return static_cast<int32_t>(value); });
  return {{"image", std::move(image)}, {"label", std::move(label)}};
}

Element Decode(const Element& parsed, data::MapContext& context) {
  Tensor image = NewImage(parsed, context);
  data::HwcFloats(parsed["image"], &image);
  return WithImage(parsed, std::move(image), context);
}
Element Distort(const Element& parsed, data::MapContext& context) {
  Tensor image = NewImage(parsed, context);
  data::PadCropFlip(parsed["image"], {}, context.random, &image);
  return WithImage(parsed, std::move(image), context);
}

// Seconds of whole passes and how many rows the last one had.
std::vector<double> Passes(const Dataset& dataset, int repeats, const std::string& column,
                           int64_t* rows) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto iterator = dataset.MakeIterator();
    *rows = 0;
    for (Element batch; iterator->Next(&batch);) *rows += batch[column].dim(0);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return seconds;
}

// adult.data without blank lines and comments, "copies" times.
std::string WriteCensus(const std::string& folder, const std::string& work, int copies) {
  FileSystem& file_system = FileSystem::ForPath(work);
  const std::string text = file_system.ReadFile(JoinPath(folder, "adult.data"));
  std::string clean;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    if (end > begin && text[begin] != '|') clean.append(text, begin, end + 1 - begin);
  }
  std::string all;
  for (int i = 0; i < copies; ++i) all += clean;
  const std::string path = JoinPath(work, "adult.csv");
  file_system.WriteFileAtomically(path, all);
  return path;
}

}  // namespace

void MeasureRecordPipelines(const Options& options, const std::string& records, int64_t batch) {
  const Dataset source = data::TFRecordFiles({records}).Repeat();
  const int64_t shuffle = kShuffle + 3 * batch;
  const auto measure = [&](const std::string& mode, const Dataset& dataset) {
    const auto iterator = dataset.MakeIterator();
    Element element;
    std::vector<double> rates = Repeat([&] { iterator->Next(&element); }, options);
    for (double& rate : rates) rate *= static_cast<double>(batch);
    Emit("input", "records/s", rates, false,
         {{"mode", Quote(mode)},
          {"batch", std::to_string(batch)},
          {"threads", std::to_string(options.threads)}});
  };
  const data::MapOptions parallel = {.parallel = data::kAutotune, .seed = 1};
  measure("TFRecord read, batch", source.Batch(batch));
  measure("TFRecord read, parse, decode, batch",
          source.ParseExamples(Spec()).Map(Decode, parallel).Batch(batch).Prefetch());
  measure("TFRecord read, parse, decode, augment, shuffle, batch",
          source.ParseExamples(Spec())
              .Map(Distort, parallel)
              .Shuffle(shuffle, {.seed = 2})
              .Batch(batch)
              .Prefetch());
  measure("TFRecord read, shuffle, parse, decode, augment, batch",
          source.Shuffle(shuffle, {.seed = 2})
              .ParseExamples(Spec())
              .Map(Distort, parallel)
              .Batch(batch)
              .Prefetch());
  // The same images to a model, but another pipeline than the peer's: whole batches are distorted.
  measure("TFRecord read, shuffle, parse, batch, augment batches",
          source.Shuffle(shuffle, {.seed = 2})
              .ParseExamples(Spec())
              .Batch(batch)
              .Map(Distort, parallel)
              .Prefetch());
}

void MeasureCsv(const Options& options, const std::string& folder, const std::string& work,
                int copies, int64_t batch) {
  const std::string path = WriteCensus(folder, work, copies);
  const auto megabytes = static_cast<double>(FileSystem::ForPath(path).Stat(path).size) / 1e6;
  const auto measure = [&](const std::string& mode, const std::string& column,
                           const Dataset& dataset) {
    int64_t rows = 0;
    std::vector<double> rates = Passes(dataset, options.repeats, column, &rows);
    for (double& seconds : rates) seconds = static_cast<double>(rows) / seconds;
    const double best = *std::ranges::max_element(rates);
    Emit("input", "rows/s", rates, false,
         {{"mode", Quote(mode)},
          {"best_megabytes_per_s",
           fmt::format("{:.1f}", best / static_cast<double>(rows) * megabytes)},
          {"threads", std::to_string(options.threads)}});
  };
  const Dataset lines = data::TextLines({path});
  const data::CsvFileOptions columns = {.columns = data::CensusColumns()};
  measure("text lines only, batches of 1000", "line", lines.Batch(1000));
  measure(fmt::format("decode_csv line by line, batch {}", batch), "age",
          data::ParseCsv(lines, columns).Batch(batch));
  measure(fmt::format("decode_csv per batch of {}, parallel", batch), "age",
          data::Csv({path}, columns).Batch(batch));
}

}  // namespace sextant::bench
