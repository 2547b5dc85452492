#include "sextant/ops/nn/window_geometry.h"

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant {
namespace {

void Check(const WindowSpec& spec) {
  if (spec.stride <= 0) throw InvalidArgument("Stride must be > 0, but got {}", spec.stride);
  if (spec.dilation < 1) {
    throw InvalidArgument("Dilation rate must be >= 1, but got {}", spec.dilation);
  }
  if (spec.window < 0) throw InvalidArgument("Window size must be >= 0, but got {}", spec.window);
  // So that sizes of windows cannot overflow.
  constexpr int64_t kLimit = int64_t{1} << 31;
  if (spec.stride >= kLimit || spec.dilation >= kLimit || spec.window >= kLimit) {
    throw InvalidArgument("Window {}, stride {} and dilation {} must fit in 31 bits", spec.window,
                          spec.stride, spec.dilation);
  }
}

void CheckPaddings(const WindowSpec& spec) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  for (int64_t pad : {spec.pad_before, spec.pad_after}) {
    if (pad < 0 || pad >= kLimit) {
      throw InvalidArgument("All elements of explicit_paddings must be nonnegative, got {} and {}",
                            spec.pad_before, spec.pad_after);
    }
  }
}

}  // namespace

WindowSlide SlideWindow(int64_t input, const WindowSpec& spec, std::string_view padding) {
  Check(spec);
  WindowSlide slide;
  if (padding == "SAME") {
    slide.output = (input + spec.stride - 1) / spec.stride;
    const int64_t covered = (slide.output - 1) * spec.stride + spec.extent();
    const int64_t needed = std::max<int64_t>(covered - input, 0);
    slide.pad_before = needed / 2;
    slide.pad_after = needed - slide.pad_before;
    return slide;
  }
  if (padding == "EXPLICIT") {
    CheckPaddings(spec);
    slide.pad_before = spec.pad_before;
    slide.pad_after = spec.pad_after;
  } else if (padding != "VALID") {
    throw InvalidArgument("Unknown padding '{}'", padding);
  }
  const int64_t padded = input + slide.pad_before + slide.pad_after;
  slide.output = (padded - spec.extent() + spec.stride) / spec.stride;
  if (slide.output < 0) {
    throw InvalidArgument(
        "Computed output size would be negative: {} [input_size: {}, effective_filter_size: {}, "
        "stride: {}]",
        slide.output, padded, spec.extent(), spec.stride);
  }
  return slide;
}

int64_t SlidePositions(int64_t input, const WindowSpec& spec, std::string_view padding) {
  // A window of unknown size matters unless the number of positions does not depend on it.
  const bool known = input >= 0 && (spec.window >= 0 || padding == "SAME");
  if (!known) return -1;
  WindowSpec concrete = spec;
  if (spec.window < 0) concrete.window = 1;
  return SlideWindow(input, concrete, padding).output;
}

DataFormat DataFormat::Parse(std::string_view name) {
  return {.channels_first = name.starts_with("NC")};
}

}  // namespace sextant
