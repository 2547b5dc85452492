// ByteSource: a stream of bytes with a name. What reads a format from front to back takes one of
// these, so that a decompressor can stand between the file and the reader.
#pragma once

#include <memory>
#include <span>
#include <string>

namespace sextant {

// Used by one thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills dst as far as the stream goes and returns the number of bytes: fewer than dst.size() only
  // at the end. Throws what the file system throws.
  virtual size_t Read(std::span<char> dst) = 0;
  // For messages.
  virtual const std::string& path() const = 0;
};

// The bytes of a file as they are, read ahead in large pieces.
std::unique_ptr<ByteSource> OpenFileSource(const std::string& path);

}  // namespace sextant
