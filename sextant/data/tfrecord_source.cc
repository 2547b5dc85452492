#include <span>
#include <vector>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/file_system.h"
#include "sextant/data/record_files.h"
#include "sextant/data/sources.h"
#include "sextant/formats/tfrecord.h"

namespace sextant::data {
namespace {

class TFRecordFile final : public RecordFile {
 public:
  TFRecordFile(const std::string& path, Compression compression) : reader_(path, compression) {}

  bool Next(std::string_view* record) override { return reader_.NextView(record); }
  uint64_t offset() const override { return reader_.offset(); }
  void Seek(uint64_t offset) override { reader_.Seek(offset); }

 private:
  TFRecordReader reader_;
};

// By the lengths in the records' headers. What is behind damage belongs to the last block, whose
// reader finds it.
std::vector<uint64_t> CutRecords(const std::string& path, Compression compression, uint64_t bytes) {
  std::vector<uint64_t> starts;
  if (compression != Compression::kNone) return starts;
  constexpr uint64_t kHeader = 12, kFooter = 4;
  const auto file = FileSystem::ForPath(path).NewReader(path);
  std::vector<char> window(1 << 16);
  uint64_t window_at = 0, window_size = 0;
  starts.push_back(0);
  for (uint64_t at = 0;;) {
    if (at < window_at || at + kHeader > window_at + window_size) {
      window_at = at;
      for (window_size = 0; window_size < kHeader;) {
        const size_t got = file->ReadAt(at + window_size, std::span(window).subspan(window_size));
        if (got == 0) return starts;
        window_size += got;
      }
    }
    std::string_view header(window.data() + (at - window_at), kHeader);
    const uint32_t expected = MaskedCrc32c(header.substr(0, 8));
    uint64_t length;
    uint32_t crc;
    if (!GetFixed64(&header, &length) || !GetFixed32(&header, &crc) || crc != expected) {
      return starts;
    }
    if (at - starts.back() >= bytes) starts.push_back(at);
    if (length > UINT64_MAX / 2) return starts;
    at += kHeader + length + kFooter;
  }
}

}  // namespace

Dataset TFRecordFiles(const std::vector<std::string>& files, const TFRecordOptions& options) {
  const Compression compression = options.compression;
  return RecordFiles({
      .kind = "TFRecordFiles",
      .field = "record",
      .patterns = files,
      .options = fmt::format(",{}", CompressionName(compression)),
      .open =
          [=](const std::string& path) {
            return std::make_unique<TFRecordFile>(path, compression);
          },
      .seekable = compression == Compression::kNone,
      .cut = [=](const std::string& path,
                 uint64_t bytes) { return CutRecords(path, compression, bytes); },
  });
}

}  // namespace sextant::data
