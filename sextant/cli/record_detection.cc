#include "sextant/cli/record_detection.h"

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/error.h"
#include "sextant/formats/byte_source.h"

namespace sextant::cli {
namespace {

// Whether the stream begins with a length and its checksum.
bool BeginsWithRecord(ByteSource& source) {
  char header[12];
  const size_t size = source.Read(header);
  if (size == 0) return !source.cut_off();
  return size == sizeof header &&
         DecodeFixed32(header + 8) == MaskedCrc32c(std::string_view(header, 8));
}

}  // namespace

std::optional<Compression> DetectTFRecord(const std::string& path) {
  for (const Compression compression :
       {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    try {
      if (BeginsWithRecord(*OpenFileSource(path, compression))) return compression;
    } catch (const Error& e) {
      if (e.code() != Code::kDataLoss) throw;  // else it is not compressed so
    }
  }
  return std::nullopt;
}

}  // namespace sextant::cli
