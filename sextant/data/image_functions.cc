#include "sextant/data/image_functions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/formats/image/bmp.h"
#include "sextant/formats/image/contrast.h"
#include "sextant/formats/image/gif.h"
#include "sextant/formats/image/image_format.h"
#include "sextant/formats/image/jpeg.h"
#include "sextant/formats/image/png.h"
#include "sextant/formats/image/resize_taps.h"

namespace sextant::data {
namespace {

struct Size {
  int64_t height, width, channels;
};

Size SizeOf(const Tensor& image) {
  if (image.rank() != 3 || (image.dtype() != DType::kUInt8 && image.dtype() != DType::kFloat)) {
    throw InvalidArgument("an image must be uint8 or float [height, width, channels], got {}",
                          image.valid() ? image.Describe() : "no tensor");
  }
  return {image.dim(0), image.dim(1), image.dim(2)};
}

// In [0, count), from a word of random bits.
int64_t Below(uint32_t word, int64_t count) {
  return static_cast<int64_t>((uint64_t{word} * static_cast<uint64_t>(count)) >> 32);
}

float Uniform(float lower, float upper, Philox& random) {
  return lower + (upper - lower) * UniformFloat(random.Next()[0]);
}

// Pixels of integers stand for [0, 1]; back they are cut off there, as tf.image does.
constexpr float kOver255 = static_cast<float>(1.0 / 255);
uint8_t Saturated(float value) {
  const float scaled = value * 255.5f;
  return static_cast<uint8_t>(std::clamp(scaled, 0.0f, 255.0f));
}

}  // namespace

Tensor DecodeImage(std::string_view bytes, int channels) {
  Tensor image;
  const auto allocate = [&](const ImageSize& size) -> void* {
    image = Tensor(DType::kUInt8, {size.height, size.width, size.channels});
    return image.raw_data();
  };
  const auto unknown = [&] {
    return InvalidArgument("{} bytes are not a PNG, JPEG, GIF or BMP image of {} channels",
                           bytes.size(), channels);
  };
  switch (ImageFormatOf(bytes)) {
    case ImageFormat::kPng:
      ReadPng(bytes, {.channels = channels}, allocate);
      break;
    case ImageFormat::kJpeg:
      ReadJpeg(bytes, {.channels = channels}, allocate);
      break;
    case ImageFormat::kGif:
      if (channels != 0 && channels != 3) throw unknown();
      ReadGif(bytes, {.first_frame_only = true},
              [&](int64_t, const ImageSize& size) { return allocate(size); });
      break;
    case ImageFormat::kBmp:
      ReadBmp(bytes, channels, allocate);
      break;
    case ImageFormat::kUnknown:
      throw unknown();
  }
  return image;
}

Tensor ToFloat(const Tensor& image) {
  SizeOf(image);
  if (image.dtype() == DType::kFloat) return image;
  Tensor out(DType::kFloat, image.shape());
  std::ranges::copy(image.flat<uint8_t>(), out.data<float>());
  return out;
}

Tensor ToHwc(const Tensor& image) {
  const auto [channels, height, width] = SizeOf(image);
  Tensor out(image.dtype(), {height, width, channels});
  const auto transpose = [&image, planes = channels, plane = height * width]<typename T>(T* dst) {
    const T* const src = image.data<T>();
    for (int64_t i = 0; i < plane; ++i) {
      for (int64_t c = 0; c < planes; ++c) *dst++ = src[c * plane + i];
    }
  };
  if (image.dtype() == DType::kFloat) {
    transpose(out.data<float>());
  } else {
    transpose(out.data<uint8_t>());
  }
  return out;
}

Tensor PadImage(const Tensor& image, int64_t y, int64_t x, int64_t height, int64_t width) {
  const Size size = SizeOf(image);
  if (y < 0 || x < 0 || size.height > height - y || size.width > width - x) {
    throw InvalidArgument("an image {} at ({}, {}) does not fit in {} by {}",
                          image.shape().ToString(), y, x, height, width);
  }
  Tensor out = Tensor::Zeros(image.dtype(), {height, width, size.channels});
  const auto pixel = static_cast<size_t>(size.channels) * DTypeSize(image.dtype());
  const size_t row = static_cast<size_t>(size.width) * pixel;
  for (int64_t i = 0; row > 0 && i < size.height; ++i) {
    std::memcpy(
        static_cast<char*>(out.raw_data()) + static_cast<size_t>((y + i) * width + x) * pixel,
        static_cast<const char*>(image.raw_data()) + static_cast<size_t>(i) * row, row);
  }
  return out;
}

Tensor CropImage(const Tensor& image, int64_t y, int64_t x, int64_t height, int64_t width) {
  const Size size = SizeOf(image);
  if (y < 0 || x < 0 || height < 0 || width < 0 || height > size.height - y ||
      width > size.width - x) {
    throw InvalidArgument("a crop of {} by {} from ({}, {}) is not inside an image {}", height,
                          width, y, x, image.shape().ToString());
  }
  Tensor out(image.dtype(), {height, width, size.channels});
  const auto pixel = static_cast<size_t>(size.channels) * DTypeSize(image.dtype());
  const size_t row = static_cast<size_t>(width) * pixel;
  for (int64_t i = 0; row > 0 && i < height; ++i) {
    std::memcpy(static_cast<char*>(out.raw_data()) + static_cast<size_t>(i) * row,
                static_cast<const char*>(image.raw_data()) +
                    static_cast<size_t>((y + i) * size.width + x) * pixel,
                row);
  }
  return out;
}

Tensor CropOrPad(const Tensor& image, int64_t height, int64_t width) {
  const Size size = SizeOf(image);
  const int64_t h = std::min(size.height, height), w = std::min(size.width, width);
  const Tensor cropped = CropImage(image, (size.height - h) / 2, (size.width - w) / 2, h, w);
  return PadImage(cropped, (height - h) / 2, (width - w) / 2, height, width);
}

Tensor RandomCrop(const Tensor& image, int64_t height, int64_t width, Philox& random) {
  const Size size = SizeOf(image);
  const Philox::Block words = random.Next();
  const int64_t y = Below(words[0], std::max<int64_t>(size.height - height, 0) + 1);
  const int64_t x = Below(words[1], std::max<int64_t>(size.width - width, 0) + 1);
  return CropImage(image, y, x, height, width);
}

Tensor FlipUpDown(const Tensor& image) {
  const Size size = SizeOf(image);
  Tensor out(image.dtype(), image.shape());
  const size_t row = static_cast<size_t>(size.width * size.channels) * DTypeSize(image.dtype());
  for (int64_t i = 0; row > 0 && i < size.height; ++i) {
    std::memcpy(
        static_cast<char*>(out.raw_data()) + static_cast<size_t>(i) * row,
        static_cast<const char*>(image.raw_data()) + static_cast<size_t>(size.height - 1 - i) * row,
        row);
  }
  return out;
}

Tensor FlipLeftRight(const Tensor& image) {
  const Size size = SizeOf(image);
  Tensor out(image.dtype(), image.shape());
  const auto pixel = static_cast<size_t>(size.channels) * DTypeSize(image.dtype());
  const auto* src = static_cast<const char*>(image.raw_data());
  auto* dst = static_cast<char*>(out.raw_data());
  for (int64_t y = 0; pixel > 0 && y < size.height; ++y) {
    for (int64_t x = 0; x < size.width; ++x) {
      std::memcpy(dst + static_cast<size_t>(y * size.width + size.width - 1 - x) * pixel,
                  src + static_cast<size_t>(y * size.width + x) * pixel, pixel);
    }
  }
  return out;
}

Tensor RandomFlip(const Tensor& image, Philox& random) {
  SizeOf(image);
  return random.Next()[0] & 1 ? FlipLeftRight(image) : image;
}

Tensor AdjustBrightness(const Tensor& image, float delta) {
  SizeOf(image);
  Tensor out(image.dtype(), image.shape());
  if (image.dtype() == DType::kFloat) {
    std::ranges::transform(image.flat<float>(), out.data<float>(),
                           [=](float pixel) { return pixel + delta; });
  } else {
    std::ranges::transform(image.flat<uint8_t>(), out.data<uint8_t>(), [=](uint8_t pixel) {
      return Saturated(static_cast<float>(pixel) * kOver255 + delta);
    });
  }
  return out;
}

Tensor RandomBrightness(const Tensor& image, float max_delta, Philox& random) {
  return AdjustBrightness(image, Uniform(-max_delta, max_delta, random));
}

Tensor AdjustContrast(const Tensor& image, float factor) {
  const Size size = SizeOf(image);
  const bool bytes = image.dtype() == DType::kUInt8;
  Tensor pixels = ToFloat(image).Clone();
  float* const values = pixels.data<float>();
  const int64_t count = size.height * size.width;
  for (int64_t i = 0; bytes && i < pixels.num_elements(); ++i) values[i] *= kOver255;
  for (int64_t c = 0; count > 0 && c < size.channels; ++c) {
    ScaleContrast(values + c, count, size.channels, factor, values + c);
  }
  if (!bytes) return pixels;
  Tensor out(DType::kUInt8, image.shape());
  std::ranges::transform(pixels.flat<float>(), out.data<uint8_t>(), Saturated);
  return out;
}

Tensor RandomContrast(const Tensor& image, float lower, float upper, Philox& random) {
  return AdjustContrast(image, Uniform(lower, upper, random));
}

Tensor Standardize(const Tensor& image) {
  const Tensor pixels = ToFloat(image);
  const auto count = static_cast<double>(pixels.num_elements());
  double sum = 0, squares = 0;
  for (const float value : pixels.flat<float>()) sum += value;
  const double mean = sum / count;
  for (const float value : pixels.flat<float>()) squares += (value - mean) * (value - mean);
  const double deviation = std::max(std::sqrt(squares / count), 1.0 / std::sqrt(count));
  Tensor out(DType::kFloat, pixels.shape());
  std::ranges::transform(pixels.flat<float>(), out.data<float>(),
                         [m = static_cast<float>(mean), d = static_cast<float>(deviation)](
                             float value) { return (value - m) / d; });
  return out;
}

Tensor Resize(const Tensor& image, int64_t height, int64_t width) {
  const Tensor pixels = ToFloat(image);
  if (height <= 0 || width <= 0 || pixels.dim(0) == 0 || pixels.dim(1) == 0) {
    throw InvalidArgument("cannot resize an image {} to {} by {}", image.shape().ToString(), height,
                          width);
  }
  const ResizeMode mode{.half_pixel_centers = true};
  const TapTable rows = BilinearTaps(pixels.dim(0), height, mode);
  const TapTable columns = BilinearTaps(pixels.dim(1), width, mode);
  Tensor out(DType::kFloat, {height, width, pixels.dim(2)});
  std::vector<float> line;
  for (int64_t y = 0; y < height; ++y) {
    ResampleRow(pixels.data<float>(), pixels.dim(1), pixels.dim(2), rows, columns, y, &line,
                out.data<float>() + y * width * pixels.dim(2));
  }
  return out;
}

}  // namespace sextant::data
