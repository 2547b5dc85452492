#include <algorithm>
#include <cmath>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/data/image_functions.h"

namespace sextant::data {
namespace {

// Of each pixel of the result: its two neighbours in the source and the weight of the second.
struct Tap {
  int64_t low, high;
  float weight;
};

// Pixels are squares whose centres lie at half numbers, in the source and in the result.
std::vector<Tap> Taps(int64_t from, int64_t to) {
  std::vector<Tap> taps(static_cast<size_t>(to));
  const float scale = static_cast<float>(from) / static_cast<float>(to);
  for (int64_t i = 0; i < to; ++i) {
    const float centre = (static_cast<float>(i) + 0.5f) * scale - 0.5f;
    const float floor = std::floor(centre);
    taps[static_cast<size_t>(i)] = {std::max<int64_t>(static_cast<int64_t>(floor), 0),
                                    std::min(static_cast<int64_t>(std::ceil(centre)), from - 1),
                                    centre - floor};
  }
  return taps;
}

}  // namespace

Tensor Resize(const Tensor& image, int64_t height, int64_t width) {
  const Tensor pixels = ToFloat(image);
  if (height <= 0 || width <= 0 || pixels.dim(0) == 0 || pixels.dim(1) == 0) {
    throw InvalidArgument("cannot resize an image {} to {} by {}", image.shape().ToString(), height,
                          width);
  }
  const int64_t channels = pixels.dim(2), row = pixels.dim(1) * channels;
  const std::vector<Tap> rows = Taps(pixels.dim(0), height), columns = Taps(pixels.dim(1), width);
  Tensor out(DType::kFloat, {height, width, channels});
  float* dst = out.data<float>();
  for (const Tap& y : rows) {
    const float* const top = pixels.data<float>() + y.low * row;
    const float* const bottom = pixels.data<float>() + y.high * row;
    for (const Tap& x : columns) {
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t left = x.low * channels + c, right = x.high * channels + c;
        const float above = top[left] + (top[right] - top[left]) * x.weight;
        const float below = bottom[left] + (bottom[right] - bottom[left]) * x.weight;
        *dst++ = above + (below - above) * y.weight;
      }
    }
  }
  return out;
}

}  // namespace sextant::data
