// How a window slides along the dimensions of a tensor: the padding rule that pooling and
// convolutions share, and where the dimensions of a data format are.
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant {

// Positions of a window along one dimension and the padding it sees there.
struct WindowSlide {
  int64_t output = 0;  // number of positions
  int64_t pad_before = 0;
  int64_t pad_after = 0;
};

// A window along one dimension. The paddings are read when padding is "EXPLICIT".
struct WindowSpec {
  int64_t window = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;
  int64_t pad_after = 0;

  // What the window covers, its gaps included.
  int64_t extent() const { return (window - 1) * dilation + 1; }
};

// The window over "input" elements. "VALID" keeps it inside, "SAME" pads such that there are
// ceil(input / stride) positions, the larger half behind, "EXPLICIT" pads as told. Throws
// INVALID_ARGUMENT unless stride and dilation are positive and window and paddings are not
// negative, and when the window is larger than what it slides over by a stride or more.
WindowSlide SlideWindow(int64_t input, const WindowSpec& spec, std::string_view padding);
// The number of positions where the sizes may be unknown (-1).
int64_t SlidePositions(int64_t input, const WindowSpec& spec, std::string_view padding);

// Which dimension of a tensor is what: batch first, channels second ("NCHW", "NCDHW") or last.
struct DataFormat {
  bool channels_first = false;

  static DataFormat Parse(std::string_view name);
  int channel(int rank) const { return channels_first ? 1 : rank - 1; }
  int spatial(int i) const { return channels_first ? 2 + i : 1 + i; }
};

}  // namespace sextant
