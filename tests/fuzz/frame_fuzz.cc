// libFuzzer target: bytes are read as a frame, in pieces as the first bytes say, with the checksum
// of the header put right so that the fuzzer gets behind it. A finding is a memory error, an error
// of another code than DATA_LOSS and UNIMPLEMENTED, a frame that is another one when it is encoded
// again, or that is another one when it is decoded where it lies.
#include <cstring>
#include <string>
#include <vector>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/error.h"
#include "sextant/net/frame.h"
#include "sextant/tensor/buffer.h"
#include "tests/fuzz/finding.h"

namespace sextant::fuzz {
namespace {

void RepairChecksum(std::string* bytes) {
  constexpr size_t kFixed = 24, kCrc = 12;
  if (bytes->size() < kFixed) return;
  const size_t header = DecodeFixed32(&(*bytes)[8]);
  if (header < kFixed || header > bytes->size()) return;
  const std::string_view text(bytes->data(), header);
  const uint32_t crc =
      MaskCrc32c(ExtendCrc32c(ExtendCrc32c(0, text.substr(0, kCrc)), text.substr(kCrc + 4)));
  std::string field;
  PutFixed32(&field, crc);
  bytes->replace(kCrc, field.size(), field);
}

std::string EncodeAgain(const net::DecodedFrame& frame) {
  std::string bytes;
  for (const net::FramePiece& piece : net::EncodeFrame(frame.message, frame.tensors).pieces)
    bytes.append(piece.bytes);
  return bytes;
}

// The error, or the frame encoded again.
template <typename Decode>
std::string Answer(const Decode& decode) {
  try {
    return EncodeAgain(decode());
  } catch (const Error& error) {
    if (error.code() != Code::kDataLoss && error.code() != Code::kUnimplemented)
      Report(error.what());
    return error.what();
  }
}

void DecodeInPlace(const std::string& bytes) {
  const BufferRef buffer = NewBuffer(bytes.size());
  std::memcpy(buffer->data(), bytes.data(), bytes.size());
  const std::string_view whole = bytes;
  if (Answer([&] { return net::DecodeFrameInPlace(buffer, bytes.size()); }) !=
      Answer([&] { return net::DecodeFrame(std::span(&whole, 1)); }))
    Report("another frame where it lies");
}

void ReadFrame(std::string bytes, size_t piece_size) {
  RepairChecksum(&bytes);
  DecodeInPlace(bytes);
  std::vector<std::string_view> pieces;
  for (std::string_view left = bytes; !left.empty();) {
    pieces.push_back(left.substr(0, piece_size));
    left.remove_prefix(pieces.back().size());
  }
  try {
    const net::DecodedFrame frame = net::DecodeFrame(pieces);
    const std::string again = EncodeAgain(frame);
    // Padding is not looked at, so the bytes may differ there; what is read must not.
    const std::string_view view = again;
    if (again.size() != bytes.size() || EncodeAgain(net::DecodeFrame(std::span(&view, 1))) != again)
      Report("another frame when encoded again");
  } catch (const Error& error) {
    if (error.code() != Code::kDataLoss && error.code() != Code::kUnimplemented)
      Report(error.what());
  }
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  sextant::fuzz::ReadFrame(bytes, 1 + data[0]);
  return 0;
}
