// Chapter 3: files of Examples, written and read.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

int main() {
  const int64_t height = 4, width = 6, depth = 3;
  {
    sx::TFRecordWriter writer("images.tfrecords", {.atomic = true});
    for (int64_t i = 0; i < 1000; ++i) {
      const std::string pixels(height * width * depth, static_cast<char>(i % 256));
      writer.Write(sx::ExampleBuilder()
                       .Bytes("image_raw", pixels)
                       .Int64("height", height)
                       .Int64("width", width)
                       .Int64("depth", depth)
                       .Int64("label", i % 10)
                       .Serialize());
    }
    writer.Close();
  }

  auto images = sx::data::TFRecordFiles({"images.tfrecords"})
                    .ParseExamples({{.name = "image_raw",
                                     .dtype = sx::DType::kString,
                                     .shape = {height, width, depth},
                                     .decode_raw = sx::DType::kUInt8},
                                    {.name = "label", .dtype = sx::DType::kInt64}})
                    .Batch(400);
  sx::data::Element batch;
  for (auto it = images.MakeIterator(); it->Next(&batch);) fmt::print("{}\n", batch.Describe());
}
