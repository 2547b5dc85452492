#include "sextant/formats/byte_source.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "sextant/base/file_system.h"

namespace sextant {
namespace {

constexpr size_t kReadAhead = 64 * 1024;

class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::string& path)
      : file_system_(FileSystem::ForPath(path)), reader_(file_system_.NewReader(path)) {}

  size_t Read(std::span<char> dst) override {
    size_t done = 0;
    while (done < dst.size()) {
      const size_t got = ReadSome(dst.subspan(done));
      if (got == 0) break;
      done += got;
    }
    return done;
  }

  size_t ReadSome(std::span<char> dst) override {
    if (const size_t buffered = TakeBuffered(dst); buffered > 0) return buffered;
    if (dst.size() >= kReadAhead) return reader_->ReadSome(dst);
    buffer_.resize(kReadAhead);
    begin_ = end_ = 0;
    end_ = reader_->ReadSome(buffer_);
    return TakeBuffered(dst);
  }

  void Seek(uint64_t offset) override {
    begin_ = end_ = 0;
    reader_->Seek(offset);
  }
  bool seekable() const override { return true; }

  std::optional<uint64_t> Size() override {
    const uint64_t size = file_system_.Stat(path()).size;
    if (size == 0) return std::nullopt;  // a pipe or device, perhaps
    return size;
  }
  const std::string& path() const override { return reader_->path(); }

 private:
  size_t TakeBuffered(std::span<char> dst) {
    const size_t size = std::min(dst.size(), end_ - begin_);
    if (size > 0) std::memcpy(dst.data(), buffer_.data() + begin_, size);
    begin_ += size;
    return size;
  }

  FileSystem& file_system_;
  const std::unique_ptr<FileReader> reader_;
  std::vector<char> buffer_;  // empty until a small read
  size_t begin_ = 0;          // buffer_[begin_, end_) is read and not yet taken
  size_t end_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> OpenFileSource(const std::string& path, Compression compression) {
  return Decompress(std::make_unique<FileSource>(path), compression);
}

}  // namespace sextant
