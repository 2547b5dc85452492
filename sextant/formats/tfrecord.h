// TFRecord files: records of bytes one after another, each with a checked length and checked
// content.
//
//   uint64 length | uint32 masked CRC32C of the length | payload | uint32 masked CRC32C of the
//   payload
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/byte_source.h"

namespace sextant {

// Reads records in order. Used by one thread at a time.
class TFRecordReader {
 public:
  explicit TFRecordReader(const std::string& path) : TFRecordReader(OpenFileSource(path)) {}
  explicit TFRecordReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // Puts the next record into *record, or returns false at the end. Throws DATA_LOSS with the path
  // and the offset when a record is cut off or does not match its checksums, and so does every call
  // after that.
  bool Next(std::string* record);

  // Where the next record begins in the (uncompressed) stream.
  uint64_t offset() const { return offset_; }
  // Whether the end was reached inside a record's header. TensorFlow takes that for a clean end, as
  // when a writer was killed, and so does Next, with a warning in the log.
  bool ended_in_header() const { return ended_in_header_; }

 private:
  bool ReadNext(std::string* record);
  void ReadPayload(uint64_t length, std::string* record);
  Error Truncated() const;

  const std::unique_ptr<ByteSource> source_;
  uint64_t offset_ = 0;
  bool ended_in_header_ = false;
  Status error_;
};

// Appends one framed record to *dst.
void AppendTFRecord(std::string* dst, std::string_view payload);

// Writes a file of records. Used by one thread at a time. Throws what the file system throws.
class TFRecordWriter {
 public:
  // Creates the file, or empties it.
  explicit TFRecordWriter(const std::string& path);

  void Write(std::string_view payload);
  void Flush() { file_->Flush(); }
  void Sync() { file_->Sync(); }
  // The file is complete only after Close.
  void Close() { file_->Close(); }

 private:
  const std::unique_ptr<FileWriter> file_;
};

}  // namespace sextant
