// ByteSource: a stream of bytes with a name. What reads a format from front to back takes one of
// these, so that a decompressor can stand between the file and the reader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sextant/base/export.h"
#include "sextant/formats/compression.h"

#pragma GCC visibility push(default)

namespace sextant {

// Used by one thread at a time.
class SEXTANT_API ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills dst as far as the stream goes and returns the number of bytes: fewer than dst.size() only
  // at the end, and before bytes that cannot be read: the next call throws, what the file system
  // throws or DATA_LOSS. When the file has grown, a later call reads on after the end.
  virtual size_t Read(std::span<char> dst) = 0;
  // May return fewer bytes, but 0 only at the end: those of a pipe that have come.
  virtual size_t ReadSome(std::span<char> dst) { return Read(dst); }
  // Reads on at an offset of the (uncompressed) stream. A compressed stream is read again from its
  // start: seekable() says that this is not needed. Past the end, Read returns 0.
  virtual void Seek(uint64_t offset) = 0;
  virtual bool seekable() const = 0;
  // The length of the stream as it is now, where that is known without reading.
  virtual std::optional<uint64_t> Size() = 0;
  // Whether the end that Read found is not the end of the compressed stream: the file is cut off.
  virtual bool cut_off() const { return false; }
  // For messages.
  virtual const std::string& path() const = 0;
};

// The content of a file. Small reads are served from a buffer, large ones go to the file.
std::unique_ptr<ByteSource> OpenFileSource(const std::string& path,
                                           Compression compression = Compression::kNone);

}  // namespace sextant

#pragma GCC visibility pop
