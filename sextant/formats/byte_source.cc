#include "sextant/formats/byte_source.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "sextant/base/file_system.h"

namespace sextant {
namespace {

constexpr size_t kReadAhead = 256 * 1024;

class FileSource : public ByteSource {
 public:
  explicit FileSource(std::unique_ptr<FileReader> reader)
      : reader_(std::move(reader)), buffer_(kReadAhead) {}

  size_t Read(std::span<char> dst) override {
    size_t done = TakeBuffered(dst);
    if (done == dst.size()) return done;
    if (dst.size() - done >= kReadAhead) return done + reader_->Read(dst.subspan(done));
    begin_ = 0;
    end_ = reader_->Read(buffer_);
    return done + TakeBuffered(dst.subspan(done));
  }
  const std::string& path() const override { return reader_->path(); }

 private:
  size_t TakeBuffered(std::span<char> dst) {
    const size_t size = std::min(dst.size(), end_ - begin_);
    if (size > 0) std::memcpy(dst.data(), buffer_.data() + begin_, size);
    begin_ += size;
    return size;
  }

  const std::unique_ptr<FileReader> reader_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // buffer_[begin_, end_) is read and not yet taken
  size_t end_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> OpenFileSource(const std::string& path) {
  return std::make_unique<FileSource>(FileSystem::ForPath(path).NewReader(path));
}

}  // namespace sextant
