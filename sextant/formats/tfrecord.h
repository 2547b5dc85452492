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
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/export.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/byte_source.h"
#include "sextant/formats/compression.h"

#pragma GCC visibility push(default)

namespace sextant {

// Reads records in order. Used by one thread at a time.
class SEXTANT_API TFRecordReader {
 public:
  explicit TFRecordReader(const std::string& path, Compression compression = Compression::kNone)
      : TFRecordReader(OpenFileSource(path, compression)) {}
  explicit TFRecordReader(std::unique_ptr<ByteSource> source);

  // Points *record at the next record, or returns false at the end. The bytes stay valid until the
  // next call of a function of this reader; nothing is copied. Throws DATA_LOSS with the path and
  // the offset when a record is cut off or does not match its checksums, and so does every call
  // after that until Seek.
  bool NextView(std::string_view* record);
  // The same, with a copy in *record.
  bool Next(std::string* record);

  // Where the next record begins in the (uncompressed) stream.
  uint64_t offset() const { return offset_; }
  // Reads on at the record that begins there: an offset() of this or another reader of the file.
  // With compression all before it is read again.
  void Seek(uint64_t offset);
  bool seekable() const { return source_->seekable(); }
  const std::string& path() const { return source_->path(); }

  // From now on a record that the file does not hold whole is taken as still being written: Next
  // returns false, and looks again when called again.
  void Follow() { follow_ = true; }

  // Whether the end was reached inside a record's header. TensorFlow takes that for a clean end, as
  // when a writer was killed, and so does Next, with a warning in the log.
  bool ended_in_header() const { return ended_in_header_; }
  // Whether the end was reached before that of the compressed stream: a clean end between records,
  // as above.
  bool stream_cut_off() const { return source_->cut_off(); }

 private:
  bool ReadNext(std::string_view* record);
  bool AtEnd();
  bool Incomplete() const;
  // Whether the source may have a record of that length.
  bool MayHold(uint64_t length) const;
  // Whether `size` bytes are buffered, after reading what is missing.
  bool Fill(uint64_t size);
  void MakeRoom(uint64_t size);
  size_t buffered() const { return end_ - begin_; }
  const char* data() const { return window_.data() + begin_; }

  const std::unique_ptr<ByteSource> source_;
  std::vector<char> window_;  // bytes [begin_, end_) are read and not yet handed out
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;
  bool follow_ = false;
  bool ended_in_header_ = false;
  Status error_;
};

// Appends one framed record to *dst.
void AppendTFRecord(std::string* dst, std::string_view payload);

struct SEXTANT_API TFRecordWriterOptions {
  Compression compression = Compression::kNone;
  // Goes on behind the records that are there, if the file exists. Not with kZlib or `atomic`.
  bool append = false;
  // Writes beside the file and renames on Close; without a Close nothing is left.
  bool atomic = false;
};

// Writes a file of records. Used by one thread at a time. Throws what the file system throws.
class SEXTANT_API TFRecordWriter {
 public:
  // Creates the file or, unless told to append, empties it.
  explicit TFRecordWriter(const std::string& path, const TFRecordWriterOptions& options = {});

  void Write(std::string_view payload);  // one record
  // So that readers see all records so far, with compression too.
  void Flush() { file_->Flush(); }
  void Sync() { file_->Sync(); }
  // The file is complete only after Close.
  void Close() { file_->Close(); }

 private:
  const std::unique_ptr<FileWriter> file_;
};

}  // namespace sextant

#pragma GCC visibility pop
