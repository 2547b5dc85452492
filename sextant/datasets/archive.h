// Reading tar archives, compressed or not, member by member.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

struct archive;

namespace sextant::datasets {

// Used by one thread at a time. Throws DATA_LOSS with the path when the bytes are no such archive
// or are cut off.
class SEXTANT_API ArchiveReader {
 public:
  explicit ArchiveReader(const std::string& path);
  ~ArchiveReader();

  // Goes to the next regular file and returns false after the last.
  bool Next();
  // Of the current member: its name, folders included, and its size.
  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }
  // Its content; RESOURCE_EXHAUSTED when that is more than `limit` bytes.
  std::string Read(uint64_t limit);

 private:
  [[noreturn]] void Fail() const;

  struct Source;
  const std::unique_ptr<Source> source_;
  ::archive* const archive_;
  std::string name_;
  uint64_t size_ = 0;
};

}  // namespace sextant::datasets

#pragma GCC visibility pop
