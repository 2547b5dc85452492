// Record files of all compressions, Examples and SequenceExamples.
#include "sextant/base/file_system.h"
#include "sextant/formats/example_builder.h"
#include "sextant/formats/tfrecord.h"
#include "tests/interop/writers.h"

namespace sextant::interop {
namespace {

using Strings = std::vector<std::string>;
using Int64s = std::vector<int64_t>;
using Floats = std::vector<float>;

void WriteSizes(const std::string& folder, Compression compression) {
  const std::string name(CompressionName(compression));
  TFRecordWriter writer(JoinPath(folder, name + ".tfrecord"), {.compression = compression});
  for (const size_t size : {0, 1, 5, 300, 4096, 300'000, 0, 3}) {
    std::string record(size, '\0');
    for (size_t i = 0; i < size; ++i) record[i] = static_cast<char>(i * i % 251);
    writer.Write(record);
    if (size == 300) writer.Flush();
  }
  writer.Close();
}

void WriteExamples(const std::string& path) {
  TFRecordWriter writer(path, {.atomic = true});
  for (int i = 0; i < 10; ++i) {
    writer.Write(ExampleBuilder()
                     .Int64("id", i)
                     .Int64s("ints", Int64s{i, -i, int64_t{1} << 40})
                     .Floats("floats", Floats{0.5f * static_cast<float>(i), -1})
                     .Bytes("name", "row " + std::to_string(i))
                     .Bytes("blobs", Strings{"", std::string("\0\xff", 2)})
                     .Floats("empty", Floats{})
                     .Serialize());
  }
  writer.Close();
}

void WriteSequenceExamples(const std::string& path) {
  TFRecordWriter writer(path, {.atomic = true});
  for (int i = 0; i < 4; ++i) {
    SequenceExampleBuilder builder;
    builder.context().Int64("id", i);
    builder.FeatureList("tokens");
    for (int step = 0; step < i; ++step) builder.Int64Step(Int64s{step, 10 * step});
    builder.FeatureList("words").BytesStep(Strings{"a", "b"});
    builder.FeatureList("vectors").FloatStep(Floats{1.5f});
    writer.Write(builder.Serialize());
  }
  writer.Close();
}

}  // namespace

void WriteRecords(const std::string& folder) {
  WriteSizes(folder, Compression::kNone);
  WriteSizes(folder, Compression::kZlib);
  WriteSizes(folder, Compression::kGzip);
  WriteExamples(JoinPath(folder, "examples.tfrecord"));
  WriteSequenceExamples(JoinPath(folder, "sequence_examples.tfrecord"));
}

}  // namespace sextant::interop
