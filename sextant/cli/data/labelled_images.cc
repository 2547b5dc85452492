#include "sextant/cli/data/labelled_images.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/cli/interrupt.h"
#include "sextant/cli/progress.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/example.pb.h"

namespace sextant::cli {
namespace {

// The same bytes for the same content.
void Serialize(const tensorflow::Example& example, std::string* bytes) {
  bytes->clear();
  google::protobuf::io::StringOutputStream stream(bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  example.SerializeToCodedStream(&coded);
}

}  // namespace

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
  tensorflow::Example example;
  auto& features = *example.mutable_features()->mutable_feature();
  std::string& image = *features["image"].mutable_bytes_list()->add_value();
  features["label"].mutable_int64_list()->add_value(0);
  std::string bytes;
  Progress progress(std::string(BaseName(path)), count, "records");
  for (int64_t i = 0; i < count; ++i) {
    image = images.image(i);
    features["label"].mutable_int64_list()->set_value(0, images.label(i));
    Serialize(example, &bytes);
    writer.Write(bytes);
    if (i % 1024 == 0) {
      ThrowIfInterrupted();
      progress.Update(i);
    }
  }
  writer.Close();
}

}  // namespace sextant::cli
