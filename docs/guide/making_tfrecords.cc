// Chapter 3: files of Examples, written and read.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

int main() {
  {
    sx::TFRecordWriter writer("points.tfrecords", {.atomic = true});
    for (int64_t i = 0; i < 1000; ++i) {
      const std::vector<float> point = {static_cast<float>(i), static_cast<float>(i * i)};
      writer.Write(sx::ExampleBuilder()
                       .Floats("point", point)
                       .Int64("label", i % 3)
                       .Bytes("name", fmt::format("p{}", i))
                       .Serialize());
    }
    writer.Close();
  }

  auto points = sx::data::TFRecordFiles({"points.tfrecords"})
                    .ParseExamples({{.name = "point", .dtype = sx::DType::kFloat, .shape = {2}},
                                    {.name = "label", .dtype = sx::DType::kInt64}})
                    .Batch(400);
  sx::data::Element batch;
  for (auto it = points.MakeIterator(); it->Next(&batch);) fmt::print("{}\n", batch.Describe());
}
