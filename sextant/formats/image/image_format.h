// Which codec of this folder an image file is for, by its first bytes.
#pragma once

#include <string_view>

namespace sextant {

enum class ImageFormat { kUnknown, kJpeg, kPng, kGif, kBmp };

inline ImageFormat ImageFormatOf(std::string_view bytes) {
  if (bytes.starts_with("\xff\xd8\xff")) return ImageFormat::kJpeg;
  if (bytes.starts_with("\x89PNG\r\n")) return ImageFormat::kPng;
  if (bytes.starts_with("GIF8")) return ImageFormat::kGif;
  if (bytes.starts_with("BM")) return ImageFormat::kBmp;
  return ImageFormat::kUnknown;
}

}  // namespace sextant
