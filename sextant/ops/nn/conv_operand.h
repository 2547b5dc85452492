// ConvOperand: an input or output of a convolution as its loops want it: channels last, 16-bit
// floats as floats. Where the tensor is so already it is used in place, else through a copy.
#pragma once

#include <algorithm>
#include <type_traits>

#include "sextant/device/kernel.h"
#include "sextant/ops/nn/conv_geometry.h"
#include "sextant/tensor/float16.h"

namespace sextant {

template <typename T>
class ConvOperand {
 public:
  // The type computed with.
  using Compute =
      std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

  // Of [batch, pixels, channels], or [batch, channels, pixels] when channels come first.
  ConvOperand(KernelContext& ctx, int64_t batch, int64_t pixels, int64_t channels,
              bool channels_first)
      : ctx_(ctx),
        batch_(batch),
        pixels_(pixels),
        channels_(channels),
        turn_(channels_first && pixels > 1 && channels > 1) {}

  // The elements of an input.
  const Compute* Read(const Tensor& tensor) {
    if constexpr (std::is_same_v<T, Compute>) {
      if (!turn_) return tensor.data<T>();
    }
    Compute* const copy = Temp();
    Move(tensor.data<T>(), copy, channels_, pixels_);
    return copy;
  }

  // Where the elements of an output go; Finish() brings them there.
  Compute* Write(Tensor& tensor) {
    if constexpr (std::is_same_v<T, Compute>) {
      if (!turn_) return tensor.data<T>();
    }
    output_ = tensor.data<T>();
    return Temp();
  }
  void Finish() {
    if (output_) Move(copy_.template data<Compute>(), output_, pixels_, channels_);
  }

 private:
  Compute* Temp() {
    copy_ = ctx_.AllocateTemp(DTypeOf<Compute>, Shape{batch_, pixels_, channels_});
    return copy_.template data<Compute>();
  }

  // Converts; a matrix of rows x cols becomes its transpose if need be.
  template <typename From, typename To>
  void Move(const From* from, To* to, int64_t rows, int64_t cols) {
    const int64_t image = rows * cols;
    if (!turn_) {
      ctx_.ParallelFor(batch_ * image, 1.0, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = static_cast<To>(from[i]);
      });
      return;
    }
    constexpr int64_t kBlock = 32;  // columns written while their lines are in the cache
    const int64_t blocks = (cols + kBlock - 1) / kBlock;
    const double cost = static_cast<double>(std::min(cols, kBlock) * rows);
    ctx_.ParallelFor(batch_ * blocks, cost, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t base = unit / blocks * image, first = unit % blocks * kBlock;
        const int64_t last = std::min(cols, first + kBlock);
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = first; j < last; ++j) {
            to[base + j * rows + i] = static_cast<To>(from[base + i * cols + j]);
          }
        }
      }
    });
  }

  KernelContext& ctx_;
  const int64_t batch_, pixels_, channels_;
  const bool turn_;
  Tensor copy_;
  T* output_ = nullptr;
};

// The operands of a convolution, full, grouped or depthwise.
template <typename T>
struct ConvOperands {
  ConvOperands(KernelContext& ctx, const ConvGeometry& g)
      : input(ctx, g.batch, g.in_pixels(), g.in_c, g.channels_first),
        filter(ctx, g.filter_pixels(), g.filter_c, g.out_c, false),
        output(ctx, g.batch, g.out_pixels(), g.out_c, g.channels_first) {}
  ConvOperand<T> input, filter, output;
};

}  // namespace sextant
