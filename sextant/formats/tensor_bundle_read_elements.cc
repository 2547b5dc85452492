#include <algorithm>
#include <vector>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/thread_team.h"
#include "sextant/formats/tensor_bundle_entry.h"
#include "sextant/proto/tensor.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

constexpr size_t kReadPiece = size_t{1} << 18;  // read and summed while the cache holds it
constexpr int64_t kGrain = int64_t{4} << 20;    // bytes worth a thread
constexpr size_t kStreamBuffer = size_t{1} << 16;

Error Damaged(const StoredTensor& stored, uint64_t offset, std::string_view what) {
  return DataLoss("{}: damaged at offset {}: {} of tensor '{}'", stored.file->path(), offset, what,
                  stored.name);
}

void ReadAt(const StoredTensor& stored, uint64_t offset, std::span<char> dst) {
  try {
    stored.file->ReadExactlyAt(offset, dst);
  } catch (const Error& e) {  // the file has become shorter
    if (e.code() != Code::kOutOfRange) throw;
    throw Damaged(stored, offset, "the file ends inside the bytes");
  }
}

void CheckCrc(const StoredTensor& stored, uint32_t crc) {
  if (crc != stored.crc) {
    throw Damaged(stored, stored.offset, "the checksum does not match the bytes");
  }
}

// Fills dst and returns its CRC.
uint32_t ReadSummed(const StoredTensor& stored, uint64_t offset, std::span<char> dst) {
  uint32_t crc = 0;
  for (size_t done = 0; done < dst.size();) {
    const std::span<char> piece = dst.subspan(done, std::min(kReadPiece, dst.size() - done));
    ReadAt(stored, offset + done, piece);
    crc = ExtendCrc32c(crc, {piece.data(), piece.size()});
    done += piece.size();
  }
  return crc;
}

void ReadPlain(const StoredTensor& stored, std::span<char> dst) {
  ThreadTeam& team = ThreadTeam::Process();
  struct Part {
    uint32_t crc = 0;
    uint64_t size = 0;
  };
  const auto total = static_cast<int64_t>(dst.size());
  std::vector<Part> parts(team.NumShards(total, kGrain));
  team.ParallelShards(total, kGrain, [&](int shard, int64_t begin, int64_t end) {
    const std::span<char> part = dst.subspan(begin, end - begin);
    parts[shard] = {ReadSummed(stored, stored.offset + begin, part), part.size()};
  });
  uint32_t crc = 0;
  for (const Part& part : parts) crc = JoinCrc32c(crc, part.crc, part.size);
  CheckCrc(stored, crc);
}

// The bytes of one tensor from front to back.
class Stream {
 public:
  explicit Stream(const StoredTensor& stored) : stored_(stored) {}

  uint64_t left() const { return stored_.size - taken_; }
  uint64_t offset() const { return stored_.offset + taken_; }

  void Read(std::span<char> dst, std::string_view what) {
    if (dst.size() > left()) throw Damaged(stored_, offset(), what);
    const size_t buffered = std::min(dst.size(), buffer_.size() - at_);
    std::copy_n(buffer_.data() + at_, buffered, dst.data());
    at_ += buffered;
    taken_ += buffered;
    const std::span<char> rest = dst.subspan(buffered);
    if (rest.size() >= kStreamBuffer) {
      ReadAt(stored_, offset(), rest);
      taken_ += rest.size();
    } else if (!rest.empty()) {
      Fill();
      std::copy_n(buffer_.data(), rest.size(), rest.data());
      at_ = rest.size();
      taken_ += rest.size();
    }
  }

  uint64_t ReadVarint(std::string_view what) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      char byte;
      Read({&byte, 1}, what);
      value |= uint64_t{static_cast<unsigned char>(byte & 0x7F)} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    throw Damaged(stored_, offset(), what);
  }

  // Reads a stored CRC, which must be that of all before, and continues the CRC over it.
  void ReadCrc(uint32_t* crc, std::string_view what) {
    char bytes[4];
    Read(bytes, what);
    const uint32_t found =
        stored_.big_endian ? __builtin_bswap32(DecodeFixed32(bytes)) : DecodeFixed32(bytes);
    if (found != MaskCrc32c(*crc)) throw Damaged(stored_, offset() - 4, what);
    *crc = ExtendCrc32c(*crc, {bytes, 4});
  }

 private:
  void Fill() {
    buffer_.resize(std::min<uint64_t>(kStreamBuffer, left()));
    ReadAt(stored_, offset(), buffer_);
    at_ = 0;
  }

  const StoredTensor& stored_;
  uint64_t taken_ = 0;
  std::string buffer_;
  size_t at_ = 0;
};

// Adds an integer as it is in memory on the machine that wrote the file.
uint32_t ExtendByNumber(uint32_t crc, uint64_t value, int bytes, bool big_endian) {
  char text[8];
  for (int i = 0; i < bytes; ++i) {
    text[i] = static_cast<char>(value >> 8 * (big_endian ? bytes - 1 - i : i));
  }
  return ExtendCrc32c(crc, {text, static_cast<size_t>(bytes)});
}

void ReadStrings(const StoredTensor& stored, std::span<std::string> values) {
  constexpr std::string_view kLengths = "the lengths of the strings";
  Stream in(stored);
  uint32_t crc = 0;
  uint64_t total = 0;
  std::vector<uint64_t> lengths(values.size());
  for (uint64_t& length : lengths) {
    length = in.ReadVarint(kLengths);
    if (length > stored.size - total) throw Damaged(stored, in.offset(), kLengths);
    total += length;
    crc = ExtendByNumber(crc, length, length <= UINT32_MAX ? 4 : 8, stored.big_endian);
  }
  in.ReadCrc(&crc, kLengths);
  if (total != in.left()) throw Damaged(stored, in.offset(), kLengths);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i].resize(lengths[i]);
    in.Read(values[i], "the strings");
    crc = ExtendCrc32c(crc, values[i]);
  }
  CheckCrc(stored, crc);
}

void ReadVariants(const StoredTensor& stored, std::span<Variant> values) {
  constexpr std::string_view kElement = "an element";
  Stream in(stored);
  uint32_t crc = 0;
  for (Variant& value : values) {
    const uint64_t length = in.ReadVarint(kElement);
    if (length > in.left()) throw Damaged(stored, in.offset(), kElement);
    crc = ExtendByNumber(crc, length, 8, stored.big_endian);
    std::string bytes(length, '\0');
    in.Read(bytes, kElement);
    crc = ExtendCrc32c(crc, bytes);
    in.ReadCrc(&crc, kElement);
    proto::TensorProto proto;
    proto.set_dtype(proto::DT_VARIANT);
    proto.mutable_tensor_shape();
    if (!proto.add_variant_val()->ParseFromString(bytes)) {
      throw Damaged(stored, in.offset(), kElement);
    }
    value = TensorFromProto(proto).scalar<Variant>();
  }
  CheckCrc(stored, crc);
}

void SwapBytes(std::span<char> data, size_t word) {
  for (size_t i = 0; i + word <= data.size(); i += word) {
    std::reverse(data.begin() + i, data.begin() + i + word);
  }
}

}  // namespace

void CheckStoredSize(const StoredTensor& stored, DType dtype, const Shape& shape) {
  if (stored.offset > stored.file_size || stored.size > stored.file_size - stored.offset) {
    throw Damaged(
        stored, stored.file_size,
        fmt::format("the file ends before the {} bytes at offset {}", stored.size, stored.offset));
  }
  const auto elements = static_cast<uint64_t>(shape.num_elements());
  // A string has a byte of length, and there is a CRC; a variant has both.
  const bool fits = IsPlain(dtype) ? stored.size % DTypeSize(dtype) == 0 &&
                                         stored.size / DTypeSize(dtype) == elements
                    : dtype == DType::kString ? stored.size >= 4 && stored.size - 4 >= elements
                                              : stored.size / 5 >= elements;
  if (!fits) {
    throw Damaged(
        stored, stored.offset,
        fmt::format("{} bytes are not the {}{}", stored.size, DTypeName(dtype), shape.ToString()));
  }
}

void ReadElements(const StoredTensor& stored, Tensor* tensor) {
  const DType dtype = tensor->dtype();
  if (dtype == DType::kString) return ReadStrings(stored, tensor->flat<std::string>());
  if (dtype == DType::kVariant) return ReadVariants(stored, tensor->flat<Variant>());
  const std::span<char> bytes(static_cast<char*>(tensor->raw_data()), tensor->bytes());
  ReadPlain(stored, bytes);
  if (stored.big_endian) SwapBytes(bytes, DTypeSize(dtype) / (IsComplex(dtype) ? 2 : 1));
  // Other values than 0 and 1 are no bools to the compiler.
  if (dtype == DType::kBool) {
    for (char& value : bytes) value = value != 0;
  }
}

}  // namespace sextant
