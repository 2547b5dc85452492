#include "sextant/data/byte_window.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "sextant/base/error.h"
#include "sextant/base/input_limits.h"

namespace sextant::data {
namespace {

constexpr size_t kPiece = 256 << 10;  // read at once

}  // namespace

ByteWindow::ByteWindow(const std::string& path, Compression compression)
    : source_(OpenFileSource(path, compression)) {}

bool ByteWindow::More() {
  const uint64_t most = InputLimits::Current().line;
  if (end_ - begin_ > most) {
    throw ResourceExhausted(
        "{}: the line at offset {} does not end within {} bytes; is this a text file?", path(),
        offset_, most);
  }
  return Read();
}

bool ByteWindow::Read() {
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // A record longer than the window doubles it, so that the bytes are moved a few times only.
  if (end_ + kPiece > bytes_.size()) bytes_.resize(std::max(end_ + kPiece, 2 * end_));
  const size_t read = source_->ReadSome(std::span(bytes_).subspan(end_));
  end_ += read;
  if (read == 0 && source_->cut_off()) {
    throw DataLoss("{}: the compressed file is cut off; its content ends at offset {}", path(),
                   offset_ + end_);
  }
  return read > 0;
}

bool ByteWindow::Need(size_t bytes) {
  if (const uint64_t most = InputLimits::Current().record; bytes > most) {
    throw ResourceExhausted("{}: cannot read {} bytes at once; the most is {}", path(), bytes,
                            most);
  }
  while (end_ - begin_ < bytes) {
    if (!Read()) return false;
  }
  return true;
}

void ByteWindow::Seek(uint64_t offset) {
  begin_ = end_ = 0;
  source_->Seek(offset);
  offset_ = offset;
}

}  // namespace sextant::data
