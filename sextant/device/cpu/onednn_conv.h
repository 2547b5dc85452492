// Convolutions by oneDNN, in one image layout or another, on the thread team.
//
// A batch is cut into units of some images; each thread takes the next unit that is free and runs
// oneDNN on it alone. Filters come and go in TensorFlow's order [height, width, in, out] and are
// reordered here. Objects belong to one kernel: primitives and scratch memory are made once, for
// one set of sizes.
#pragma once

#include <cstdint>
#include <memory>

#include "sextant/device/kernel.h"

namespace sextant::onednn {

enum class ImageLayout {
  kNhwc,
  kNchw,
  kBlocked,  // [n, c / ChannelBlock(), h, w, ChannelBlock()]
};

// Channels that lie together in the blocked layout: 16 with AVX-512, else 8.
int64_t ChannelBlock();

struct ConvSizes {
  int64_t batch = 0, groups = 1;
  int64_t in_c = 0, in_h = 0, in_w = 0;
  int64_t out_c = 0, out_h = 0, out_w = 0;
  int64_t filter_h = 0, filter_w = 0;
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;

  bool operator==(const ConvSizes&) const = default;
  int64_t in_elements() const { return in_c * in_h * in_w; }  // of an image
  int64_t out_elements() const { return out_c * out_h * out_w; }
  int64_t filter_elements() const { return filter_h * filter_w * in_c / groups * out_c; }
};

struct ConvLayouts {
  ImageLayout in = ImageLayout::kNhwc;
  ImageLayout out = ImageLayout::kNhwc;
  bool operator==(const ConvLayouts&) const = default;
};

// What is done to the result before it is stored, in this order.
struct ConvEpilogue {
  bool bias = false;
  bool sum = false;  // adds what dst holds
  bool relu = false;
  bool operator==(const ConvEpilogue&) const = default;
};

class ConvForward {
 public:
  // Null when oneDNN has no fast kernel for it.
  static std::unique_ptr<ConvForward> Make(const ConvSizes& sizes, const ConvLayouts& layouts,
                                           const ConvEpilogue& epilogue, int threads);
  ~ConvForward();
  // Keeps a reordered copy, every output channel multiplied by its scale if there is one.
  void SetFilter(const float* filter, const float* scale = nullptr);
  // REQUIRES: a filter was set; bias iff the epilogue has one.
  void Run(KernelContext& ctx, const float* src, const float* bias, float* dst);

 private:
  struct Impl;
  explicit ConvForward(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The gradient with respect to the images.
class ConvBackwardData {
 public:
  static std::unique_ptr<ConvBackwardData> Make(const ConvSizes& sizes, const ConvLayouts& layouts,
                                                int threads);
  ~ConvBackwardData();
  void SetFilter(const float* filter);
  void Run(KernelContext& ctx, const float* diff_dst, float* diff_src);

 private:
  struct Impl;
  explicit ConvBackwardData(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The gradient with respect to the filter: partial sums per unit, added in the order of the units.
class ConvBackwardFilter {
 public:
  static std::unique_ptr<ConvBackwardFilter> Make(const ConvSizes& sizes,
                                                  const ConvLayouts& layouts, int threads);
  ~ConvBackwardFilter();
  void Run(KernelContext& ctx, const float* src, const float* diff_dst, float* diff_filter);

 private:
  struct Impl;
  explicit ConvBackwardFilter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sextant::onednn
