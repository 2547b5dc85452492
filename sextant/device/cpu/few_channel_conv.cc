// The gradient of a filter where the images have fewer channels than a block, as in the first layer
// of a network: dF[i][j][c][o] = sum over images and pixels of x[h * stride + i][w * stride + j][c]
// * dy[h][w][o].
//
// Lanes are output channels, which fill blocks; the few input channels are not vectorised at all.
// With channels last, a row of a window is filter_w * in_c floats one after another: 15 for 5 x 5
// filters of RGB images. For each of these taps the kernel (few_channel_kernels.cc) broadcasts x
// and adds x * dy to the tap's sum; taps that fit in registers are summed over a whole row of the
// image before they are stored. Images are copied to a padded frame first, so that no window needs
// a condition.
//
// Invariant: units of images have sums of their own, which are added up in order; the cut depends
// on the size of the batch alone.
#include "sextant/device/cpu/few_channel_conv.h"

#include <algorithm>
#include <cstring>

#include "sextant/device/cpu/few_channel_kernels.h"
#include "sextant/device/cpu/thread_scratch.h"

namespace sextant::few_channels {
namespace {

using onednn::ConvSizes;

struct PaddedImage;
struct PartialScratch;

constexpr double kFlopsPerNanosecond = 40;  // of one core, on the low side

}  // namespace

std::string Refusal(const ConvSizes& s) {
  const int64_t lanes = BestKernels().lanes;
  if (lanes == 0) return "vectors of this processor are too short";
  if (lanes != onednn::ChannelBlock()) return "vectors are not of the size of a block";
  if (s.groups != 1) return "groups";
  if (s.in_c >= lanes) return "input channels that fill a block";
  if (s.out_c % lanes != 0) return "output channels that do not fill a block";
  if (s.dilation_h != 1 || s.dilation_w != 1) return "dilations";
  const bool cut = std::min({s.pad_top, s.pad_bottom, s.pad_left, s.pad_right}) < 0;
  return cut ? "negative paddings" : "";
}

ConvBackwardFilter::ConvBackwardFilter(const ConvSizes& s, bool channels_first)
    : sizes_(s),
      channels_first_(channels_first),
      units_(onednn::SplitForSums(s.batch)),
      padded_h_((s.out_h - 1) * s.stride_h + s.filter_h),
      padded_w_((s.out_w - 1) * s.stride_w + s.filter_w) {}

void ConvBackwardFilter::Pad(const float* image, float* padded) const {
  const ConvSizes& s = sizes_;
  std::memset(padded, 0, padded_h_ * padded_w_ * s.in_c * sizeof(float));
  const int64_t rows = std::min(s.in_h, padded_h_ - s.pad_top);
  const int64_t columns = std::min(s.in_w, padded_w_ - s.pad_left);
  for (int64_t h = 0; h < rows; ++h) {
    float* to = padded + ((h + s.pad_top) * padded_w_ + s.pad_left) * s.in_c;
    if (!channels_first_) {
      std::memcpy(to, image + h * s.in_w * s.in_c, columns * s.in_c * sizeof(float));
      continue;
    }
    for (int64_t c = 0; c < s.in_c; ++c) {
      const float* from = image + (c * s.in_h + h) * s.in_w;
      for (int64_t w = 0; w < columns; ++w) to[w * s.in_c + c] = from[w];
    }
  }
}

void ConvBackwardFilter::Run(KernelContext& ctx, const float* src, const float* diff_dst,
                             float* diff_filter) const {
  const Kernels& kernels = BestKernels();
  const ConvSizes& s = sizes_;
  const int64_t units = units_.count(), elements = s.filter_elements();
  const int64_t taps = s.filter_w * s.in_c, blocks = s.out_c / kernels.lanes;
  // Of the units but the first, one after another.
  float* partial =
      ThreadScratch<PartialScratch, float>(std::max<int64_t>(1, (units - 1) * elements));
  const double cost =
      2.0 * static_cast<double>(units_.size * s.out_h * s.out_w * elements) / kFlopsPerNanosecond;
  onednn::ForEachUnit(ctx, units, cost, [&](int, int64_t unit) {
    float* sum = unit == 0 ? diff_filter : partial + (unit - 1) * elements;
    float* padded = ThreadScratch<PaddedImage, float>(padded_h_ * padded_w_ * s.in_c);
    std::memset(sum, 0, elements * sizeof(float));
    for (int64_t i = unit * units_.size; i < unit * units_.size + units_.images(unit); ++i) {
      Pad(src + i * s.in_elements(), padded);
      for (int64_t h = 0; h < s.out_h; ++h) {
        const float* dy = diff_dst + i * s.out_elements() + h * s.out_w * kernels.lanes;
        for (int64_t row = 0; row < s.filter_h; ++row) {
          kernels.accumulate(padded + (h * s.stride_h + row) * padded_w_ * s.in_c,
                             s.stride_w * s.in_c, taps, dy, s.out_h * s.out_w * kernels.lanes,
                             blocks, s.out_w, sum + row * taps * s.out_c);
        }
      }
    }
  });
  ctx.ParallelFor(elements, 0.3 * static_cast<double>(units), [&](int64_t begin, int64_t end) {
    for (int64_t unit = 1; unit < units; ++unit) {
      const float* part = partial + (unit - 1) * elements;
      for (int64_t i = begin; i < end; ++i) diff_filter[i] += part[i];
    }
  });
}

}  // namespace sextant::few_channels
