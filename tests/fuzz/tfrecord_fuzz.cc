// libFuzzer target: bytes are read as a record file; the first byte chooses the compression and
// whether the rest is cut into records with right checksums first. A finding is a memory error, an
// error other than DATA_LOSS with the path, or a record that is another one when read again.
#include <string>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/formats/tfrecord.h"
#include "tests/fuzz/finding.h"

namespace sextant::fuzz {
namespace {

constexpr char kPath[] = "memory://tfrecord_fuzz";

// Records whose lengths are the first byte of each, compressed or not.
void WriteRecords(std::string_view data, Compression compression) {
  TFRecordWriter writer(kPath, {.compression = compression});
  while (!data.empty()) {
    const auto size = static_cast<uint8_t>(data[0]);
    writer.Write(data.substr(1, size));
    data.remove_prefix(std::min<size_t>(data.size(), 1 + size));
  }
  writer.Close();
}

void ReadRecords(Compression compression) {
  std::vector<std::string> records;
  std::vector<uint64_t> offsets;
  TFRecordReader reader(kPath, compression);
  try {
    std::string_view record;
    for (uint64_t offset = 0; reader.NextView(&record); offset = reader.offset()) {
      records.emplace_back(record);
      offsets.push_back(offset);
    }
  } catch (const Error& e) {
    if (e.code() != Code::kDataLoss || !e.message().starts_with(kPath)) Report(e.what());
  }
  // From the last to the first, so that each is looked for anew; a stream is read again each time.
  const size_t again = compression == Compression::kNone ? records.size() : 3;
  for (size_t i = records.size(); i-- > records.size() - std::min(again, records.size());) {
    std::string_view record;
    reader.Seek(offsets[i]);
    if (!reader.NextView(&record) || record != records[i]) Report("another record after Seek");
  }
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sextant;
  SetLogLevel(LogLevel::kOff);
  if (size == 0) return 0;
  const std::string_view data(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const auto compression = static_cast<Compression>(bytes[0] % 3);
  if (bytes[0] >= 128) {
    fuzz::WriteRecords(data, compression);
  } else {
    FileSystem::ForPath(fuzz::kPath).WriteFileAtomically(fuzz::kPath, data);
  }
  fuzz::ReadRecords(compression);
  return 0;
}
