#include "sextant/datasets/idx.h"

#include <algorithm>
#include <span>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/byte_source.h"

namespace sextant::datasets {
namespace {

constexpr char kUnsignedByte = 0x08;

Compression CompressionOf(const std::string& path) {
  char magic[2] = {};
  FileSystem::ForPath(path).NewReader(path)->Read(magic);
  return magic[0] == '\x1f' && magic[1] == '\x8b' ? Compression::kGzip : Compression::kNone;
}

int64_t ReadDimension(ByteSource& source) {
  char digits[4];
  if (source.Read(digits) != sizeof digits) throw DataLoss("{} is cut off", source.path());
  uint32_t dimension = 0;
  for (const char digit : digits) dimension = dimension << 8 | static_cast<unsigned char>(digit);
  return dimension;
}

// Grows with what is there, so that a wrong dimension costs nothing.
std::string ReadBytes(ByteSource& source, uint64_t size) {
  std::string bytes;
  while (bytes.size() < size) {
    const size_t begin = bytes.size();
    const size_t piece = std::min<uint64_t>(size - begin, 1 << 20);
    bytes.resize(begin + piece);
    if (source.Read(std::span(bytes).subspan(begin)) != piece) {
      throw DataLoss("{} is cut off: it should have {} bytes of data", source.path(), size);
    }
  }
  return bytes;
}

}  // namespace

IdxArray ReadIdx(const std::string& path) {
  const auto source = OpenFileSource(path, CompressionOf(path));
  char magic[4] = {};
  if (source->Read(magic) != 4 || magic[0] != 0 || magic[1] != 0 || magic[2] != kUnsignedByte ||
      magic[3] < 1 || magic[3] > 4) {
    throw DataLoss("{} is no idx file of bytes", path);
  }
  IdxArray array;
  uint64_t size = 1;
  for (int i = 0; i < magic[3]; ++i) {
    array.shape.push_back(ReadDimension(*source));
    if (__builtin_mul_overflow(size, static_cast<uint64_t>(array.shape.back()), &size)) {
      throw DataLoss("{} claims more bytes than there can be", path);
    }
  }
  array.bytes = ReadBytes(*source, size);
  char more;
  if (source->Read({&more, 1}) != 0) throw DataLoss("{} has bytes after its end", path);
  return array;
}

void WriteIdx(const std::string& path, const IdxArray& array) {
  std::string contents = {0, 0, kUnsignedByte, static_cast<char>(array.shape.size())};
  for (const int64_t dimension : array.shape) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      contents.push_back(static_cast<char>(dimension >> shift));
    }
  }
  contents += array.bytes;
  FileSystem::ForPath(path).WriteFileAtomically(path, contents);
}

}  // namespace sextant::datasets
