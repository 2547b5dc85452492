#include "sextant/formats/tfrecord.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "sextant/base/atomic_writer.h"
#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/input_limits.h"
#include "sextant/base/logging.h"

namespace sextant {
namespace {

constexpr size_t kLengthSize = 8;
constexpr size_t kCrcSize = 4;
constexpr size_t kHeaderSize = kLengthSize + kCrcSize;
// Fits in the second-level cache, so that checksums are taken of bytes that are still near.
constexpr size_t kWindow = 256 * 1024;

void EncodeFixed32(uint32_t value, char* dst) {
  for (int i = 0; i < 4; ++i) dst[i] = static_cast<char>(value >> (8 * i));
}

std::array<char, kHeaderSize> Header(uint64_t length) {
  std::array<char, kHeaderSize> header;
  EncodeFixed32(static_cast<uint32_t>(length), header.data());
  EncodeFixed32(static_cast<uint32_t>(length >> 32), header.data() + 4);
  EncodeFixed32(MaskedCrc32c({header.data(), kLengthSize}), header.data() + kLengthSize);
  return header;
}

std::array<char, kCrcSize> Footer(std::string_view payload) {
  std::array<char, kCrcSize> footer;
  EncodeFixed32(MaskedCrc32c(payload), footer.data());
  return footer;
}

std::unique_ptr<FileWriter> OpenWriter(const std::string& path,
                                       const TFRecordWriterOptions& options) {
  const bool zlib = options.compression == Compression::kZlib;
  if (options.append && (zlib || options.atomic)) {
    throw InvalidArgument("{}: cannot append records to {}", path,
                          zlib ? "a ZLIB stream" : "a file that is written as a whole");
  }
  FileSystem& fs = FileSystem::ForPath(path);
  auto file = options.atomic ? NewAtomicWriter(fs, path) : fs.NewWriter(path, options.append);
  return NewCompressingWriter(std::move(file), options.compression);
}

}  // namespace

TFRecordReader::TFRecordReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

bool TFRecordReader::NextView(std::string_view* record) {
  error_.ThrowIfError();
  try {
    return ReadNext(record);
  } catch (const Error& e) {  // kept, because the source now stands inside a record
    error_ = e.status();
    throw;
  }
}

bool TFRecordReader::Next(std::string* record) {
  std::string_view view;
  if (!NextView(&view)) return false;
  record->assign(view);
  return true;
}

bool TFRecordReader::ReadNext(std::string_view* record) {
  if (!Fill(kHeaderSize)) return AtEnd();
  const std::string_view length_bytes(data(), kLengthSize);
  if (DecodeFixed32(data() + kLengthSize) != MaskedCrc32c(length_bytes)) {
    throw DataLoss("{}: corrupted record at {}: its length does not match its checksum{}", path(),
                   offset_, offset_ == 0 ? "; is this a TFRecord file, and uncompressed?" : "");
  }
  const uint64_t length = DecodeFixed64(data());
  // A length may lie: no memory is taken for more than there is.
  if (length > kWindow && !MayHold(length)) return Incomplete();
  if (const uint64_t most = InputLimits::Current().record; length > most) {
    throw ResourceExhausted("{}: the record at {} has {} bytes; the most that is read is {}",
                            path(), offset_, length, most);
  }
  const uint64_t record_size = kHeaderSize + length + kCrcSize;
  if (!Fill(record_size)) return Incomplete();
  const std::string_view payload(data() + kHeaderSize, length);
  if (DecodeFixed32(payload.data() + length) != MaskedCrc32c(payload)) {
    throw DataLoss("{}: corrupted record at {}: its content does not match its checksum", path(),
                   offset_ + kHeaderSize);
  }
  *record = payload;
  begin_ += record_size;
  offset_ += record_size;
  return true;
}

bool TFRecordReader::AtEnd() {
  const bool in_header = buffered() > 0 && !follow_;
  if (in_header && !ended_in_header_) {
    LogWarning("{}: ends with {} bytes of a record header at offset {}", path(), buffered(),
               offset_);
  }
  ended_in_header_ = in_header;
  return false;
}

bool TFRecordReader::Incomplete() const {
  if (follow_) return false;
  throw DataLoss("{}: truncated record at {}: the file ends inside it", path(), offset_);
}

bool TFRecordReader::MayHold(uint64_t length) const {
  const auto size = source_->Size();
  if (!size.has_value()) return length < std::numeric_limits<uint64_t>::max() - kWindow;
  return *size >= offset_ && length <= *size - offset_;
}

bool TFRecordReader::Fill(uint64_t size) {
  while (buffered() < size) {
    if (window_.size() - begin_ < size) MakeRoom(size);
    const size_t got = source_->ReadSome(std::span(window_).subspan(end_));
    if (got == 0) return false;
    end_ += got;
  }
  return true;
}

// Moves what is buffered to the front of a window that can hold `size` bytes or, where the source
// does not tell its size, twice what has come so far.
void TFRecordReader::MakeRoom(uint64_t size) {
  const bool known = size <= kWindow || source_->Size().has_value();
  const size_t wanted = known ? size : std::min<uint64_t>(size, 2 * buffered());
  const size_t room = std::max(wanted, kWindow);
  if (window_.size() < room) {
    std::vector<char> larger(room);
    std::copy_n(data(), buffered(), larger.data());
    window_.swap(larger);
  } else {
    std::memmove(window_.data(), data(), buffered());
  }
  end_ = buffered();
  begin_ = 0;
}

void TFRecordReader::Seek(uint64_t offset) {
  error_ = Status();
  ended_in_header_ = false;
  const uint64_t window_offset = offset_ - begin_;
  if (offset >= window_offset && offset - window_offset <= end_) {
    begin_ = offset - window_offset;
  } else {
    begin_ = end_ = 0;
    source_->Seek(offset);
  }
  offset_ = offset;
}

void AppendTFRecord(std::string* dst, std::string_view payload) {
  const auto header = Header(payload.size());
  const auto footer = Footer(payload);
  dst->append(header.data(), header.size());
  dst->append(payload);
  dst->append(footer.data(), footer.size());
}

TFRecordWriter::TFRecordWriter(const std::string& path, const TFRecordWriterOptions& options)
    : file_(OpenWriter(path, options)) {}

void TFRecordWriter::Write(std::string_view payload) {
  const auto header = Header(payload.size());
  const auto footer = Footer(payload);
  file_->Append({header.data(), header.size()});
  file_->Append(payload);
  file_->Append({footer.data(), footer.size()});
}

}  // namespace sextant
