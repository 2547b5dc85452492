// libFuzzer target: bytes are read as a frame, in pieces as the first bytes say, with the checksum
// of the header put right so that the fuzzer gets behind it; in one piece, where tensors stay; and
// cut into parts. A finding is a memory error, an error of another code than DATA_LOSS and
// UNIMPLEMENTED, one way that gives something else than another, or a frame that is another one
// when it is encoded again.
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/error.h"
#include "sextant/net/frame.h"
#include "sextant/net/frame_parts.h"
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

// What a frame holds, encoded again, or the error that it gives.
struct Reading {
  explicit Reading(const std::function<net::DecodedFrame()>& read) {
    try {
      again = EncodeAgain(read());
    } catch (const Error& caught) {
      if (caught.code() != Code::kDataLoss && caught.code() != Code::kUnimplemented)
        Report(caught.what());
      error = caught.what();
    }
  }
  friend bool operator==(const Reading&, const Reading&) = default;

  std::string again, error;
};

// Memory that ends where the frame does, so that what is read behind it is found.
net::DecodedFrame ReadInPlace(const std::string& bytes) {
  const BufferRef buffer = NewBuffer(bytes.size());
  std::memcpy(buffer->data(), bytes.data(), bytes.size());
  return net::DecodeFrameInPlace(buffer, bytes.size());
}

net::DecodedFrame ReadParts(const std::string& bytes, size_t part_bytes) {
  const net::EncodedFrame frame = {.pieces = {{bytes, {}}}, .bytes = bytes.size()};
  return net::JoinFrame(net::CutFrame(frame, part_bytes));
}

void ReadFrame(std::string bytes, size_t piece_size) {
  RepairChecksum(&bytes);
  std::vector<std::string_view> pieces;
  for (std::string_view left = bytes; !left.empty();) {
    pieces.push_back(left.substr(0, piece_size));
    left.remove_prefix(pieces.back().size());
  }
  const Reading reading([&] { return net::DecodeFrame(pieces); });
  if (Reading([&] { return ReadInPlace(bytes); }) != reading) Report("another frame in place");
  if (Reading([&] { return ReadParts(bytes, piece_size); }) != reading)
    Report("another frame in parts");
  if (!reading.error.empty()) return;
  // Padding is not looked at, so the bytes may differ there; what is read must not.
  if (reading.again.size() != bytes.size() ||
      Reading([&] { return ReadInPlace(reading.again); }) != reading)
    Report("another frame when encoded again");
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  sextant::fuzz::ReadFrame(bytes, 1 + data[0]);
  return 0;
}
