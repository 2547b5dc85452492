#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/byte_window.h"
#include "sextant/data/record_files.h"
#include "sextant/data/sources.h"

namespace sextant::data {
namespace {

class FixedLengthFile final : public RecordFile {
 public:
  FixedLengthFile(const std::string& path, const FixedLengthOptions& options)
      : window_(path, options.compression),
        record_(static_cast<size_t>(options.record)),
        footer_(static_cast<size_t>(options.footer)) {
    const auto header = static_cast<size_t>(options.header);
    if (!window_.Need(header)) {
      throw DataLoss("{}: has {} bytes, fewer than the {} of its header", path,
                     window_.view().size(), header);
    }
    window_.Consume(header);
  }

  bool Next(std::string_view* record) override {
    window_.Consume(used_);
    used_ = 0;
    if (!window_.Need(record_ + footer_)) {
      const size_t left = window_.view().size();
      if (left == footer_) return false;
      throw DataLoss(
          "{}: short record at offset {}: {} bytes are left for a record of {} and a "
          "footer of {}",
          window_.path(), window_.offset(), left, record_, footer_);
    }
    *record = window_.view().substr(0, record_);
    used_ = record_;
    return true;
  }
  uint64_t offset() const override { return window_.offset() + used_; }
  void Seek(uint64_t offset) override {
    window_.Seek(offset);
    used_ = 0;
  }

 private:
  ByteWindow window_;
  const size_t record_, footer_;
  size_t used_ = 0;  // bytes of the record last handed out
};

}  // namespace

Dataset FixedLengthRecords(const std::vector<std::string>& files,
                           const FixedLengthOptions& options) {
  if (options.record <= 0 || options.header < 0 || options.footer < 0) {
    throw InvalidArgument(
        "FixedLengthRecords: a record must have bytes, header and footer none or more; got {}, {} "
        "and {}",
        options.record, options.header, options.footer);
  }
  return RecordFiles({
      .kind = "FixedLengthRecords",
      .field = "record",
      .patterns = files,
      .options = fmt::format(",record={},header={},footer={},{}", options.record, options.header,
                             options.footer, CompressionName(options.compression)),
      .open =
          [=](const std::string& path) { return std::make_unique<FixedLengthFile>(path, options); },
      .seekable = options.compression == Compression::kNone,
      .cut =
          [=](const std::string& path, uint64_t bytes) {
            std::vector<uint64_t> starts;
            if (options.compression != Compression::kNone) return starts;
            const auto record = static_cast<uint64_t>(options.record);
            const uint64_t step = (bytes + record - 1) / record * record;
            const auto size = static_cast<uint64_t>(FileSystem::ForPath(path).Stat(path).size);
            const auto footer = static_cast<uint64_t>(options.footer);
            for (auto at = static_cast<uint64_t>(options.header); at + record + footer <= size;
                 at += step) {
              starts.push_back(at);
            }
            return starts;
          },
  });
}

}  // namespace sextant::data
