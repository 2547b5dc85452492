#include "sextant/formats/image/bmp.h"

#include <cstring>

#include "sextant/base/coding.h"
#include "sextant/base/error.h"

namespace sextant {
namespace {

void ConvertPixel(const uint8_t* from, int from_channels, uint8_t* to, int to_channels) {
  if (to_channels == 1) {
    to[0] = from[0];
    return;
  }
  for (int c = 0; c < 3; ++c) to[c] = from_channels == 1 ? from[0] : from[2 - c];
  if (to_channels == 4) to[3] = from_channels == 4 ? from[3] : 255;
}

}  // namespace

void ReadBmp(std::string_view bytes, int channels, PixelAllocator allocate) {
  constexpr size_t kHeader = 32;
  if (bytes.size() < kHeader) {
    throw InvalidArgument(
        "Incomplete bmp content, requires at least {} bytes to find the header size, width, "
        "height, and bpp, got {} bytes",
        kHeader, bytes.size());
  }
  const auto field = [&](size_t offset) {
    return static_cast<int64_t>(static_cast<int32_t>(DecodeFixed32(bytes.data() + offset)));
  };
  const int64_t start = field(10), width = field(18), signed_height = field(22);
  const int bits = static_cast<uint8_t>(bytes[28]) | static_cast<uint8_t>(bytes[29]) << 8;
  const int64_t height = signed_height < 0 ? -signed_height : signed_height;
  const int file_channels = bits / 8;
  if (start < 0) throw InvalidArgument("header size must be nonnegative, got {}", start);
  if (file_channels != 1 && file_channels != 3 && file_channels != 4) {
    throw InvalidArgument(
        "Number of channels inherent in the image must be 1, 3 or 4, was {} ({} bits a pixel)",
        file_channels, bits);
  }
  const ImageSize size{height, width, channels == 0 ? file_channels : channels};
  CheckImageSize("BMP", size);
  const int64_t row_bytes = (width * file_channels + 3) / 4 * 4;
  if (static_cast<int64_t>(bytes.size()) - start != row_bytes * height) {
    throw InvalidArgument(
        "a bmp image of {} by {} pixels with {} bits each needs {} bytes after its header of {} "
        "bytes, got {}",
        width, height, bits, row_bytes * height, start, static_cast<int64_t>(bytes.size()) - start);
  }
  auto* pixels = static_cast<uint8_t*>(allocate(size));
  const auto* rows = reinterpret_cast<const uint8_t*>(bytes.data()) + start;
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t* from = rows + (signed_height < 0 ? y : height - 1 - y) * row_bytes;
    for (int64_t x = 0; x < width; ++x, from += file_channels, pixels += size.channels) {
      ConvertPixel(from, file_channels, pixels, size.channels);
    }
  }
}

}  // namespace sextant
