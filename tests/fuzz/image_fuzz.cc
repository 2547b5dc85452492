// libFuzzer target: the first byte chooses a decoder and its options, the rest is the file. An
// Error is the right answer to a bad file; a crash, a leak, another exception or an error that is
// not INVALID_ARGUMENT is a finding.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/formats/image/bmp.h"
#include "sextant/formats/image/gif.h"
#include "sextant/formats/image/jpeg.h"
#include "sextant/formats/image/png.h"

namespace sextant::fuzz {
namespace {

constexpr int64_t kMaxElements = 1 << 24;  // larger ones only cost time

std::vector<uint16_t> g_pixels;

void* Allocate(int64_t frames, const ImageSize& size) {
  const int64_t elements = frames * size.height * size.width * size.channels;
  if (elements > kMaxElements) throw InvalidArgument("too large to fuzz");
  g_pixels.assign(static_cast<size_t>(elements), 0);
  return g_pixels.data();
}

void Decode(uint8_t choice, std::string_view bytes) {
  const auto allocate = [](const ImageSize& size) { return Allocate(1, size); };
  static constexpr int kChannels[] = {0, 1, 3, 4};
  const int option = choice >> 2;
  switch (choice % 4) {
    case 0:
      return ReadPng(bytes, {.channels = kChannels[option % 4], .deep = (option & 4) != 0},
                     allocate);
    case 1: {
      JpegReadOptions options{.channels = kChannels[option % 3], .ratio = 1 << (option / 16)};
      options.try_recover_truncated = (option & 4) != 0;
      if ((option & 8) != 0) options.crop = CropWindow{1, 3, 2, 5};
      return ReadJpeg(bytes, options, allocate);
    }
    case 2:
      return ReadGif(bytes, {.first_frame_only = (option & 1) != 0},
                     [](int64_t frames, const ImageSize& size) { return Allocate(frames, size); });
    default:
      return ReadBmp(bytes, (option & 1) != 0 ? 4 : 0, allocate);
  }
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  try {
    sextant::fuzz::Decode(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const sextant::Error& e) {
    if (e.code() != sextant::Code::kInvalidArgument) std::abort();
  }
  return 0;
}
