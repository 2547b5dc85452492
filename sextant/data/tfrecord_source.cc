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
  });
}

}  // namespace sextant::data
