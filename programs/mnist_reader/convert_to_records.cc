// Converts MNIST to TFRecord files of Examples with the features height, width, depth, label and
// image_raw.
#include <fmt/core.h>

#include <iostream>

#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

constexpr int64_t kSide = 28, kDepth = 1;

void ConvertTo(const sx::datasets::LabelledImages& images, const std::string& directory,
               const std::string& name) {
  const std::string filename = sx::JoinPath(directory, name + ".tfrecords");
  fmt::print("Writing {}\n", filename);
  sx::TFRecordWriter writer(filename, {.atomic = true});
  sx::ExampleBuilder example;
  std::string record;
  for (int64_t i = 0; i < images.size(); ++i) {
    example.Clear();
    example.Int64("height", kSide).Int64("width", kSide).Int64("depth", kDepth);
    example.Int64("label", images.label(i)).Bytes("image_raw", images.image(i));
    example.SerializeTo(&record);
    writer.Write(record);
  }
  writer.Close();
}

}  // namespace

int main(int argc, char** argv) {
  std::string directory = "/tmp/data";
  int64_t validation_size = 5000;
  sx::Flags flags("Converts MNIST to TFRecord files.");
  flags.Add("directory", &directory,
            "of the four MNIST files, downloaded if missing, and of the results");
  flags.Add("validation_size", &validation_size, "training images that become the validation set",
            {.min = 0});
  return flags.Main(argc, argv, [&] {
    if (directory.empty()) throw sx::InvalidArgument("--directory must name a folder, not ''");
    const sx::datasets::MnistSets sets =
        sx::datasets::ReadMnist(directory, std::cout, validation_size);
    ConvertTo(sets.train, directory, "train");
    ConvertTo(sets.validation, directory, "validation");
    ConvertTo(sets.test, directory, "test");
  });
}
