#include <algorithm>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/byte_window.h"
#include "sextant/data/record_files.h"
#include "sextant/data/sources.h"

namespace sextant::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

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
    if (window_.offset() == 0) PassByteOrderMark();
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
  // Reads no more than it needs to know: a pipe may deliver nothing else for now.
  void PassByteOrderMark() {
    while (kByteOrderMark.starts_with(window_.view()) && window_.view() != kByteOrderMark) {
      if (!window_.More()) return;
    }
    if (window_.view().starts_with(kByteOrderMark)) window_.Consume(kByteOrderMark.size());
  }

  ByteWindow window_;
  size_t used_ = 0;  // bytes of the line last handed out
};

// Of lines: behind the first line end at or after each multiple of `bytes`.
std::vector<uint64_t> CutLines(const std::string& path, const TextLineOptions& options,
                               uint64_t bytes) {
  std::vector<uint64_t> starts;
  if (options.compression != Compression::kNone) return starts;
  starts.push_back(TextFile(path, options).offset());
  ByteWindow window(path, Compression::kNone);
  const uint64_t size = FileSystem::ForPath(path).Stat(path).size;
  for (uint64_t at = starts[0] + bytes; at < size;) {
    window.Seek(at - 1);
    size_t end;
    while ((end = window.view().find('\n')) == std::string_view::npos) {
      if (!window.view().empty()) window.Consume(window.view().size());
      if (!window.More()) return starts;
    }
    const uint64_t start = window.offset() + end + 1;
    if (start >= size) break;
    starts.push_back(start);
    at = std::max(at, start) + bytes;
  }
  return starts;
}

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
      .cut = [=](const std::string& path,
                 uint64_t bytes) { return CutLines(path, options, bytes); },
  });
}

}  // namespace sextant::data
