#include "sextant/formats/image/pixels.h"

#include "sextant/base/error.h"

namespace sextant {

void CheckImageSize(const char* format, const ImageSize& size) {
  constexpr int64_t kMaxSide = int64_t{1} << 27, kMaxElements = int64_t{1} << 29;
  if (size.width <= 0 || size.height <= 0 || size.channels <= 0) {
    throw InvalidArgument("{} image of {} by {} pixels with {} channels has no pixels", format,
                          size.width, size.height, size.channels);
  }
  if (size.width >= kMaxSide || size.height >= kMaxSide ||
      size.width * size.channels >= kMaxElements / size.height) {
    throw InvalidArgument("{} size too large: {} by {} pixels with {} channels", format, size.width,
                          size.height, size.channels);
  }
}

}  // namespace sextant
