#include "sextant/datasets/labelled_images.h"

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/base/progress.h"
#include "sextant/formats/example_builder.h"
#include "sextant/formats/tfrecord.h"

namespace sextant::datasets {
void LabelledImages::Append(const LabelledImages& other, int64_t begin, int64_t end) {
  image_bytes = other.image_bytes;
  pixels.append(other.pixels, begin * image_bytes, (end - begin) * image_bytes);
  labels.append(other.labels, begin, end - begin);
}

void CheckLabels(const LabelledImages& images, std::string_view name) {
  for (int64_t i = 0; i < images.size(); ++i) {
    if (images.label(i) > 9) {
      throw DataLoss("{}: image {} has the label {}, but there are 10 classes", name, i,
                     images.label(i));
    }
  }
}

void WriteImageRecords(const LabelledImages& images, int64_t count, const std::string& path) {
  TFRecordWriter writer(path, {.atomic = true});
  ExampleBuilder example;
  std::string bytes;
  Progress progress(std::string(BaseName(path)), count, "records");
  for (int64_t i = 0; i < count; ++i) {
    example.Clear();
    example.Bytes("image", images.image(i)).Int64("label", images.label(i));
    example.SerializeTo(&bytes);
    writer.Write(bytes);
    if (i % 1024 == 0) {
      ThrowIfInterrupted();
      progress.Update(i);
    }
  }
  writer.Close();
}

}  // namespace sextant::datasets
