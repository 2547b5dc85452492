#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/data/byte_window.h"
#include "sextant/data/record_files.h"
#include "sextant/data/sources.h"

namespace sextant::data {
namespace {

class TextFile final : public RecordFile {
 public:
  TextFile(const std::string& path, const TextLineOptions& options)
      : window_(path, options.compression) {
    std::string_view line;
    for (int64_t i = 0; i < options.skip && Next(&line); ++i) {
    }
  }

  bool Next(std::string_view* line) override {
    window_.Consume(used_);
    used_ = 0;
    size_t searched = 0;
    size_t end;
    while ((end = window_.view().find('\n', searched)) == std::string_view::npos) {
      searched = window_.view().size();
      if (window_.More()) continue;
      if (searched == 0) return false;
      end = searched;
      break;
    }
    used_ = std::min(end + 1, window_.view().size());
    *line = window_.view().substr(0, end);
    if (line->ends_with('\r')) line->remove_suffix(1);
    return true;
  }
  uint64_t offset() const override { return window_.offset() + used_; }
  void Seek(uint64_t offset) override {
    window_.Seek(offset);
    used_ = 0;
  }

 private:
  ByteWindow window_;
  size_t used_ = 0;  // bytes of the line last handed out
};

}  // namespace

Dataset TextLines(const std::vector<std::string>& files, const TextLineOptions& options) {
  if (options.skip < 0) throw InvalidArgument("TextLines: cannot skip {} lines", options.skip);
  return RecordFiles({
      .kind = "TextLines",
      .field = "line",
      .patterns = files,
      .options = fmt::format(",skip={},{}", options.skip, CompressionName(options.compression)),
      .open = [=](const std::string& path) { return std::make_unique<TextFile>(path, options); },
      .seekable = options.compression == Compression::kNone,
  });
}

}  // namespace sextant::data
