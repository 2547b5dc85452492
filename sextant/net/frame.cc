#include "sextant/net/frame.h"

#include <algorithm>
#include <cstring>

#include "sextant/base/coding.h"
#include "sextant/base/copy_bytes.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/error.h"

namespace sextant::net {
namespace {

constexpr uint32_t kMagic = 0x46545853;  // "SXTF"
constexpr uint32_t kVersion = 1;
constexpr size_t kFixedBytes = 24;
constexpr size_t kCrcOffset = 12;
constexpr size_t kBorrowedBytes =
    1024;                           // from this size on a piece of its own costs less than a copy
constexpr size_t kEntryBytes = 16;  // of a scalar in the table

constexpr size_t AlignUp(size_t offset) {
  return (offset + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

size_t PayloadBytes(const Tensor& tensor) {
  if (!tensor.valid()) return 0;
  if (tensor.dtype() != DType::kString) return tensor.bytes();
  size_t bytes = 0;
  for (const std::string& text : tensor.flat<std::string>())
    bytes += sizeof(uint64_t) + text.size();
  return bytes;
}

uint32_t HeaderCrc(std::string_view header) {
  const uint32_t crc = ExtendCrc32c(0, header.substr(0, kCrcOffset));
  return MaskCrc32c(ExtendCrc32c(crc, header.substr(kCrcOffset + sizeof(uint32_t))));
}

std::string EncodeHeader(std::string_view message, std::span<const Tensor> tensors) {
  std::string header;
  PutFixed32(&header, kMagic);
  PutFixed32(&header, kVersion);  // and no flags
  PutFixed64(&header, 0);         // size and CRC follow
  PutFixed32(&header, static_cast<uint32_t>(message.size()));
  PutFixed32(&header, static_cast<uint32_t>(tensors.size()));
  header.append(message);
  for (const Tensor& tensor : tensors) {
    if (tensor.valid() && !IsPlain(tensor.dtype()) && tensor.dtype() != DType::kString) {
      throw InvalidArgument("a {} tensor belongs to its process and cannot be sent to another",
                            DTypeName(tensor.dtype()));
    }
    PutFixed32(&header, static_cast<uint32_t>(tensor.dtype()) | static_cast<uint32_t>(tensor.rank())
                                                                    << 8);
    PutFixed32(&header, 0);
    for (int64_t dim : tensor.shape().dims()) PutFixed64(&header, static_cast<uint64_t>(dim));
    PutFixed64(&header, PayloadBytes(tensor));
  }
  if (header.size() > UINT32_MAX)
    throw InvalidArgument("a frame whose header has {} bytes", header.size());
  std::string size, crc;
  PutFixed32(&size, static_cast<uint32_t>(header.size()));
  header.replace(8, size.size(), size);
  PutFixed32(&crc, HeaderCrc(header));
  header.replace(kCrcOffset, crc.size(), crc);
  return header;
}

// Collects copied bytes until a borrowed piece, or the end, closes the block.
class PieceWriter {
 public:
  explicit PieceWriter(EncodedFrame& frame) : frame_(frame) {}

  std::string& block() { return block_; }
  void Pad() { block_.append(AlignUp(offset()) - offset(), '\0'); }
  void Borrow(std::string_view bytes, const BufferRef& owner) {
    Flush();
    frame_.pieces.push_back({bytes, owner});
    frame_.bytes += bytes.size();
  }
  void Flush() {
    if (block_.empty()) return;
    const BufferRef copy = NewBuffer(block_.size());
    std::memcpy(copy->data(), block_.data(), block_.size());
    frame_.pieces.push_back({{static_cast<const char*>(copy->data()), block_.size()}, copy});
    frame_.bytes += block_.size();
    block_.clear();
  }

 private:
  size_t offset() const { return frame_.bytes + block_.size(); }

  EncodedFrame& frame_;
  std::string block_;
};

// Takes bytes off the front of a list of pieces. REQUIRES of all: that many are left.
class PieceReader {
 public:
  explicit PieceReader(std::span<const std::string_view> pieces) : pieces_(pieces) {
    for (std::string_view piece : pieces) left_ += piece.size();
  }

  size_t left() const { return left_; }
  void Read(void* to, size_t count) {
    parts_.clear();
    Advance(count, [&](std::string_view part) { parts_.push_back(part); });
    CopyPieces(to, parts_);
  }
  void Skip(size_t count) {
    Advance(count, [](std::string_view) {});
  }

 private:
  template <typename Visit>
  void Advance(size_t count, const Visit& visit) {
    left_ -= count;
    while (count > 0) {
      const std::string_view part = pieces_[index_].substr(used_, count);
      visit(part);
      count -= part.size();
      used_ += part.size();
      if (used_ == pieces_[index_].size()) {
        ++index_;
        used_ = 0;
      }
    }
  }

  std::span<const std::string_view> pieces_;
  std::vector<std::string_view> parts_;  // of the present Read
  size_t index_ = 0, used_ = 0, left_ = 0;
};

struct Entry {
  DType dtype = DType::kInvalid;
  Shape shape;
  size_t bytes = 0;
};

Entry ReadEntry(std::string_view* table, size_t number) {
  const auto wrong = [number](std::string_view what) {
    return DataLoss("tensor {} of a frame: {}", number, what);
  };
  uint32_t kind = 0, zero = 0;
  if (!GetFixed32(table, &kind) || !GetFixed32(table, &zero)) throw wrong("its entry is cut off");
  const uint32_t rank = (kind >> 8) & 0xFF;
  Entry entry;
  entry.dtype = static_cast<DType>(kind & 0xFF);
  if ((kind >> 16) != 0 || zero != 0) throw wrong("reserved bits are set");
  const bool valid = entry.dtype != DType::kInvalid;
  if (valid && !IsPlain(entry.dtype) && entry.dtype != DType::kString)
    throw wrong(fmt::format("type {} cannot be sent", DTypeName(entry.dtype)));
  if (rank > kMaxRank || (!valid && rank > 0)) throw wrong(fmt::format("rank {}", rank));
  std::vector<int64_t> dims(rank);
  for (int64_t& dim : dims) {
    uint64_t size = 0;
    if (!GetFixed64(table, &size)) throw wrong("its shape is cut off");
    dim = static_cast<int64_t>(size);
  }
  uint64_t bytes = 0;
  if (!GetFixed64(table, &bytes)) throw wrong("its entry is cut off");
  entry.bytes = bytes;
  try {
    entry.shape = Shape(dims);
  } catch (const Error& error) {
    throw wrong(error.message());
  }
  const auto count = static_cast<uint64_t>(entry.shape.num_elements());
  uint64_t least = 0;  // of the payload; for plain types the only right size
  const size_t size = !valid ? 0 : entry.dtype == DType::kString ? 8 : DTypeSize(entry.dtype);
  if (__builtin_mul_overflow(count, size, &least) || bytes < least ||
      (entry.dtype != DType::kString && bytes != least)) {
    throw wrong(fmt::format("{} bytes do not hold {} elements of {}", bytes, count,
                            DTypeName(entry.dtype)));
  }
  return entry;
}

Tensor ReadStrings(const Entry& entry, PieceReader& reader, size_t number) {
  Tensor tensor(DType::kString, entry.shape);
  std::vector<uint64_t> lengths(static_cast<size_t>(tensor.num_elements()));
  reader.Read(lengths.data(), lengths.size() * sizeof(uint64_t));
  size_t left = entry.bytes - lengths.size() * sizeof(uint64_t);
  for (size_t i = 0; i < lengths.size(); ++i) {
    const uint64_t length = DecodeFixed64(reinterpret_cast<const char*>(&lengths[i]));
    if (length > left)
      throw DataLoss("tensor {} of a frame: string {} is longer than its bytes", number, i);
    left -= length;
    std::string& text = tensor.data<std::string>()[i];
    text.resize(length);
    reader.Read(text.data(), length);
  }
  if (left != 0) throw DataLoss("tensor {} of a frame: {} bytes after its strings", number, left);
  return tensor;
}

// A bool of any other byte would be undefined behaviour.
void CheckBools(const Tensor& tensor, size_t number) {
  const auto* bytes = static_cast<const uint8_t*>(tensor.raw_data());
  if (std::any_of(bytes, bytes + tensor.bytes(), [](uint8_t byte) { return byte > 1; }))
    throw DataLoss("tensor {} of a frame: a bool that is neither 0 nor 1", number);
}

std::string ReadHeader(PieceReader& reader) {
  std::string header(kFixedBytes, '\0');
  if (reader.left() < kFixedBytes) throw DataLoss("{} bytes are no frame", reader.left());
  const size_t total = reader.left();
  reader.Read(header.data(), kFixedBytes);
  if (DecodeFixed32(header.data()) != kMagic) throw DataLoss("bytes that do not begin as a frame");
  const uint32_t version = DecodeFixed32(&header[4]);
  if (version != kVersion) {
    throw Unimplemented("a frame of version {}; this program reads version {}", version & 0xFFFF,
                        kVersion);
  }
  const uint32_t size = DecodeFixed32(&header[8]);
  if (size < kFixedBytes || size > total)
    throw DataLoss("a frame of {} bytes with a header of {}", total, size);
  header.resize(size);
  reader.Read(&header[kFixedBytes], size - kFixedBytes);
  if (HeaderCrc(header) != DecodeFixed32(&header[kCrcOffset]))
    throw DataLoss("the header of a frame does not match its checksum");
  return header;
}

}  // namespace

EncodedFrame EncodeFrame(std::string_view message, std::span<const Tensor> tensors) {
  EncodedFrame frame;
  PieceWriter writer(frame);
  writer.block() = EncodeHeader(message, tensors);
  for (const Tensor& tensor : tensors) {
    writer.Pad();
    if (!tensor.valid() || tensor.num_elements() == 0) continue;
    if (tensor.dtype() == DType::kString) {
      for (const std::string& text : tensor.flat<std::string>())
        PutFixed64(&writer.block(), text.size());
      for (const std::string& text : tensor.flat<std::string>()) writer.block().append(text);
      continue;
    }
    const std::string_view bytes(static_cast<const char*>(tensor.raw_data()), tensor.bytes());
    if (bytes.size() < kBorrowedBytes) {
      writer.block().append(bytes);
    } else {
      writer.Borrow(bytes, tensor.buffer());
    }
  }
  writer.Flush();
  return frame;
}

namespace {

// "read_plain" makes a tensor of the next bytes of the reader.
template <typename ReadPlain>
DecodedFrame DecodeWith(PieceReader& reader, const ReadPlain& read_plain) {
  const size_t total = reader.left();
  const std::string header = ReadHeader(reader);
  std::string_view table(header);
  table.remove_prefix(kFixedBytes);
  const size_t message_bytes = DecodeFixed32(&header[16]);
  const size_t count = DecodeFixed32(&header[20]);
  if (message_bytes > table.size() || count > (table.size() - message_bytes) / kEntryBytes)
    throw DataLoss("a frame whose header is too small for {} tensors", count);
  DecodedFrame frame;
  frame.message = std::string(table.substr(0, message_bytes));
  table.remove_prefix(message_bytes);

  std::vector<Entry> entries(count);
  size_t end = header.size();
  for (size_t i = 0; i < count; ++i) {
    entries[i] = ReadEntry(&table, i);
    if (entries[i].bytes > total || (end = AlignUp(end) + entries[i].bytes) > total)
      throw DataLoss("tensor {} reaches past the end of a frame of {} bytes", i, total);
  }
  if (!table.empty() || end != total)
    throw DataLoss("a frame of {} bytes whose tensors end at {}", total, end);
  for (size_t i = 0; i < count; ++i) {
    const Entry& entry = entries[i];
    const size_t offset = total - reader.left();
    reader.Skip(AlignUp(offset) - offset);
    if (entry.dtype == DType::kInvalid) {
      frame.tensors.emplace_back();
    } else if (entry.dtype == DType::kString) {
      frame.tensors.push_back(ReadStrings(entry, reader, i));
    } else {
      frame.tensors.push_back(read_plain(entry, AlignUp(offset)));
      if (entry.dtype == DType::kBool) CheckBools(frame.tensors.back(), i);
    }
  }
  return frame;
}

Tensor CopyPlainTensor(const Entry& entry, PieceReader& reader, Allocator& allocator) {
  Tensor tensor(entry.dtype, entry.shape, allocator);
  reader.Read(tensor.raw_data(), entry.bytes);
  return tensor;
}

}  // namespace

DecodedFrame DecodeFrame(std::span<const std::string_view> pieces, Allocator& allocator) {
  PieceReader reader(pieces);
  return DecodeWith(reader, [&](const Entry& entry, size_t) {
    return CopyPlainTensor(entry, reader, allocator);
  });
}

DecodedFrame DecodeFrameInPlace(const BufferRef& buffer, size_t bytes) {
  const std::string_view whole(static_cast<const char*>(buffer->data()), bytes);
  PieceReader reader({&whole, 1});
  return DecodeWith(reader, [&](const Entry& entry, size_t offset) {
    if (entry.bytes < kBorrowedBytes || entry.dtype == DType::kBool)
      return CopyPlainTensor(entry, reader, HostAllocator());
    reader.Skip(entry.bytes);
    return Tensor(entry.dtype, entry.shape, buffer, offset);
  });
}

}  // namespace sextant::net
