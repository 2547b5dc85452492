#include "sextant/datasets/archive.h"

#include <exception>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/datasets/archive_functions.h"
#include "sextant/formats/byte_source.h"

namespace sextant::datasets {

struct ArchiveReader::Source {
  std::unique_ptr<ByteSource> bytes;
  std::vector<char> buffer = std::vector<char>(1 << 18);
  std::exception_ptr error;  // exceptions may not pass through the library

  static la_ssize_t Read(::archive* archive, void* self, const void** buffer) {
    auto& source = *static_cast<Source*>(self);
    try {
      *buffer = source.buffer.data();
      return static_cast<la_ssize_t>(source.bytes->Read(source.buffer));
    } catch (...) {
      source.error = std::current_exception();
      Archives().set_error(archive, EIO, "read error");
      return -1;
    }
  }
};

ArchiveReader::ArchiveReader(const std::string& path)
    : source_(std::make_unique<Source>()), archive_(Archives().read_new()) {
  try {
    source_->bytes = OpenFileSource(path);
    Archives().read_support_filter_gzip(archive_);
    Archives().read_support_format_tar(archive_);
    if (Archives().read_open(archive_, source_.get(), nullptr, Source::Read, nullptr) !=
        ARCHIVE_OK) {
      Fail();
    }
  } catch (...) {
    Archives().read_free(archive_);
    throw;
  }
}

ArchiveReader::~ArchiveReader() { Archives().read_free(archive_); }

void ArchiveReader::Fail() const {
  if (source_->error) std::rethrow_exception(source_->error);
  const char* reason = Archives().error_string(archive_);
  throw DataLoss("{} is no whole tar archive: {}", source_->bytes->path(),
                 reason == nullptr ? "unknown error" : reason);
}

bool ArchiveReader::Next() {
  while (true) {
    archive_entry* entry = nullptr;
    const int result = Archives().read_next_header(archive_, &entry);
    if (result == ARCHIVE_EOF) return false;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) Fail();
    if (Archives().entry_filetype(entry) != AE_IFREG) continue;
    const char* name = Archives().entry_pathname(entry);
    name_ = name == nullptr ? "" : name;
    size_ = static_cast<uint64_t>(Archives().entry_size(entry));
    return true;
  }
}

std::string ArchiveReader::Read(uint64_t limit) {
  if (size_ > limit) {
    throw ResourceExhausted("{}: {} has {} bytes, more than the {} that it may have",
                            source_->bytes->path(), name_, size_, limit);
  }
  std::string content;
  std::vector<char> piece(1 << 18);
  while (true) {
    const la_ssize_t count = Archives().read_data(archive_, piece.data(), piece.size());
    if (count < 0) Fail();
    if (count == 0) return content;
    content.append(piece.data(), static_cast<size_t>(count));
  }
}

}  // namespace sextant::datasets
