// How patches lie along one side of an image.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sextant {

// Windows of "size" pixels, every "rate"-th, that start "stride" pixels apart.
struct PatchWindow {
  int64_t size, stride, rate;
  bool same;  // padding SAME: a window for every "stride" pixels; else only those all inside

  int64_t extent() const { return size + (size - 1) * (rate - 1); }
  // How many there are on "pixels" pixels; negative when there is no room for one.
  int64_t Count(int64_t pixels) const {
    return same ? (pixels + stride - 1) / stride : (pixels - extent() + stride) / stride;
  }
  // Where the first one starts; negative when it reaches over the edge.
  int64_t Start(int64_t pixels) const {
    if (!same) return 0;
    return -(std::max<int64_t>((Count(pixels) - 1) * stride + extent() - pixels, 0) / 2);
  }
};

}  // namespace sextant
