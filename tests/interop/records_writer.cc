// Record files of all compressions.
#include "sextant/base/file_system.h"
#include "sextant/formats/tfrecord.h"
#include "tests/interop/writers.h"

namespace sextant::interop {

void WriteRecords(const std::string& folder) {
  for (const Compression compression :
       {Compression::kNone, Compression::kZlib, Compression::kGzip}) {
    const std::string name(CompressionName(compression));
    TFRecordWriter writer(JoinPath(folder, name + ".tfrecord"), {.compression = compression});
    for (const size_t size : {0, 1, 5, 300, 4096, 300'000, 0, 3}) {
      std::string record(size, '\0');
      for (size_t i = 0; i < size; ++i) record[i] = static_cast<char>(i * i % 251);
      writer.Write(record);
    }
    writer.Close();
  }
}

}  // namespace sextant::interop
