// ByteWindow: a contiguous window of a file that starts at the read position and grows on demand.
// For formats whose records are found by scanning.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/formats/byte_source.h"
#include "sextant/formats/compression.h"

namespace sextant::data {

// Used by one thread at a time. Throws what the file system throws, and DATA_LOSS when a compressed
// file is cut off.
class ByteWindow {
 public:
  ByteWindow(const std::string& path, Compression compression);

  // What was read and not yet consumed. Valid until the next call that is not const.
  std::string_view view() const { return {bytes_.data() + begin_, end_ - begin_}; }
  // Makes the view longer, or returns false at the end of the file. RESOURCE_EXHAUSTED when the
  // view is longer than a line may be (base/input_limits.h).
  bool More();
  // More until the view has this many bytes; false when the file ends before.
  bool Need(size_t bytes);
  void Consume(size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
  }

  // Of the view's first byte in the (uncompressed) file.
  uint64_t offset() const { return offset_; }
  void Seek(uint64_t offset);
  const std::string& path() const { return source_->path(); }

 private:
  bool Read();

  const std::unique_ptr<ByteSource> source_;
  std::vector<char> bytes_;  // [begin_, end_) is the view
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;
};

}  // namespace sextant::data
