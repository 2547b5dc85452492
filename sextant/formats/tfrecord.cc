#include "sextant/formats/tfrecord.h"

#include <algorithm>
#include <array>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/logging.h"

namespace sextant {
namespace {

constexpr size_t kLengthSize = 8;
constexpr size_t kCrcSize = 4;
constexpr size_t kHeaderSize = kLengthSize + kCrcSize;
// A length may lie: memory is taken as the bytes arrive, at most this much (or double) ahead.
constexpr uint64_t kFirstPiece = 1 << 20;

std::string Header(uint64_t length) {
  std::string header;
  PutFixed64(&header, length);
  PutFixed32(&header, MaskedCrc32c(header));
  return header;
}

}  // namespace

bool TFRecordReader::Next(std::string* record) {
  error_.ThrowIfError();
  try {
    return ReadNext(record);
  } catch (const Error& e) {  // kept, because the source now stands inside a record
    error_ = e.status();
    throw;
  }
}

bool TFRecordReader::ReadNext(std::string* record) {
  std::array<char, kHeaderSize> header;
  const size_t got = source_->Read(header);
  if (got < kHeaderSize) {
    if (got > 0 && !ended_in_header_) {
      ended_in_header_ = true;
      LogWarning("{}: ends with {} bytes of a record header at offset {}", source_->path(), got,
                 offset_);
    }
    return false;
  }
  const std::string_view length_bytes(header.data(), kLengthSize);
  if (DecodeFixed32(header.data() + kLengthSize) != MaskedCrc32c(length_bytes)) {
    throw DataLoss("{}: corrupted record at {}: its length does not match its checksum{}",
                   source_->path(), offset_,
                   offset_ == 0 ? "; is this a TFRecord file, and uncompressed?" : "");
  }
  const uint64_t length = DecodeFixed64(header.data());
  ReadPayload(length, record);
  std::array<char, kCrcSize> crc;
  if (source_->Read(crc) < kCrcSize) throw Truncated();
  if (DecodeFixed32(crc.data()) != MaskedCrc32c(*record)) {
    throw DataLoss("{}: corrupted record at {}: its content does not match its checksum",
                   source_->path(), offset_ + kHeaderSize);
  }
  offset_ += kHeaderSize + length + kCrcSize;
  return true;
}

void TFRecordReader::ReadPayload(uint64_t length, std::string* record) {
  record->clear();
  while (record->size() < length) {
    const size_t done = record->size();
    const size_t piece = std::min<uint64_t>(length - done, std::max<uint64_t>(kFirstPiece, done));
    record->resize(done + piece);
    if (source_->Read(std::span(*record).subspan(done)) < piece) throw Truncated();
  }
}

Error TFRecordReader::Truncated() const {
  return DataLoss("{}: truncated record at {}: the file ends inside it", source_->path(), offset_);
}

void AppendTFRecord(std::string* dst, std::string_view payload) {
  dst->append(Header(payload.size()));
  dst->append(payload);
  PutFixed32(dst, MaskedCrc32c(payload));
}

TFRecordWriter::TFRecordWriter(const std::string& path)
    : file_(FileSystem::ForPath(path).NewWriter(path)) {}

void TFRecordWriter::Write(std::string_view payload) {
  std::string footer;
  PutFixed32(&footer, MaskedCrc32c(payload));
  file_->Append(Header(payload.size()));
  file_->Append(payload);
  file_->Append(footer);
}

}  // namespace sextant
