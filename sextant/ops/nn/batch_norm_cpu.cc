#include <cmath>
#include <limits>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/nn/channel_moments.h"
#include "sextant/ops/nn/fold_lanes.h"
#include "sextant/ops/nn/window_geometry.h"

namespace sextant {
namespace {

// Mean and sum of squared deviations of the elements seen so far (Chan, Golub and LeVeque).
struct RunningMoments {
  double count = 0, mean = 0, deviations = 0;

  void Merge(double other_count, double other_mean, double other_deviations) {
    const double total = count + other_count, delta = other_mean - mean;
    mean += delta * other_count / total;
    deviations += other_deviations + delta * delta * count * other_count / total;
    count = total;
  }
};

template <typename T>
float LoadFloat(const T* x, int64_t i) {
  return static_cast<float>(x[i]);
}

// Sums of f(i) for i in [0, count), in lanes.
template <typename F>
float SumOf(int64_t count, F f) {
  return FoldLanes(count, 0.0f, f, [](float a, float b) { return a + b; });
}

// Each block's mean is found first, then the deviations from it, while the block is in the cache.
template <typename T>
void ChannelMoments(KernelContext& ctx, const ChannelLayout& layout, const T* x,
                    std::vector<RunningMoments>& moments) {
  moments.assign(layout.channels, RunningMoments());
  const int64_t channels = layout.channels;
  if (!layout.interleaved()) {
    return ForStretches(ctx, layout, 0.6, [&](int64_t c, int64_t at, int64_t count) {
      const T* values = x + at;
      const float first = LoadFloat(values, 0), number = static_cast<float>(count);
      const float mean =
          first + SumOf(count, [=](int64_t i) { return LoadFloat(values, i) - first; }) / number;
      const float deviations = SumOf(count, [=](int64_t i) {
        const float d = LoadFloat(values, i) - mean;
        return d * d;
      });
      moments[c].Merge(static_cast<double>(count), mean, deviations);
    });
  }
  FoldRows(
      ctx, layout, 2, 0.6,
      [=](int64_t first, int64_t rows, float* sums) {
        const T* block = x + first * channels;
        float *mean = sums, *deviations = sums + channels;
        for (int64_t r = 0; r < rows; ++r) {
          const T* row = block + r * channels;
          for (int64_t c = 0; c < channels; ++c) mean[c] += LoadFloat(row, c) - LoadFloat(block, c);
        }
        const float inverse = 1.0f / static_cast<float>(rows);
        for (int64_t c = 0; c < channels; ++c) mean[c] = LoadFloat(block, c) + mean[c] * inverse;
        for (int64_t r = 0; r < rows; ++r) {
          const T* row = block + r * channels;
          for (int64_t c = 0; c < channels; ++c) {
            const float d = LoadFloat(row, c) - mean[c];
            deviations[c] += d * d;
          }
        }
      },
      [&](int64_t rows, const float* sums) {
        for (int64_t c = 0; c < channels; ++c) {
          moments[c].Merge(static_cast<double>(rows), sums[c], sums[channels + c]);
        }
      });
}

// For each element y[i] = f(c, i), c its channel.
template <typename T, typename F>
void MapElements(KernelContext& ctx, const ChannelLayout& layout, T* y, F f) {
  const int64_t row = layout.interleaved() ? layout.channels : layout.inner;
  const int64_t rows = layout.interleaved() ? layout.outer : layout.outer * layout.channels;
  ctx.ParallelFor(rows, 0.5 * static_cast<double>(row) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t at = r * row;
      if (layout.interleaved()) {
        for (int64_t c = 0; c < row; ++c) y[at + c] = T(f(c, at + c));
      } else {
        const int64_t c = r % layout.channels;
        for (int64_t i = 0; i < row; ++i) y[at + i] = T(f(c, at + i));
      }
    }
  });
}

void CheckChannels(const Tensor& tensor, const char* name, int64_t channels,
                   const char* when = "") {
  if (tensor.rank() != 1) {
    throw InvalidArgument("{} must be 1-dimensional, got {}", name, tensor.shape().ToString());
  }
  if (tensor.dim(0) != channels) {
    throw InvalidArgument(
        "{}{} must have the same number of elements as the channels of x, got {} and {}", when,
        name, tensor.dim(0), channels);
  }
}

void CheckRank(const Tensor& tensor, const char* name, int rank) {
  if (tensor.rank() == rank) return;
  throw InvalidArgument("{} must be {}-dimensional, got {}", name, rank, tensor.shape().ToString());
}

// T is the type of x and y; vectors are float.
template <typename T>
class FusedBatchNormKernel final : public Kernel {
 public:
  explicit FusedBatchNormKernel(KernelInit& init)
      : rank_(static_cast<int>(init.attr<std::string>("data_format").size())),
        channels_first_(DataFormat::Parse(init.attr<std::string>("data_format")).channels_first),
        training_(init.attr<bool>("is_training")),
        epsilon_(init.attr<float>("epsilon")),
        factor_(init.attr<float>("exponential_avg_factor")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    CheckRank(x, "x", rank_);
    const ChannelLayout layout(x.shape(), channels_first_);
    CheckInputs(ctx, layout.channels);
    T* y = ctx.AllocateOutput(0, x.shape()).template data<T>();
    if (ctx.num_outputs() > 5) *ctx.AllocateOutput(5, Shape()).template data<float>() = 0;
    mean_.resize(layout.channels);
    gain_.resize(layout.channels);
    if (x.num_elements() == 0) return FillEmpty(ctx, layout.channels);
    if (training_) {
      SetStatistics(ctx, layout, x.data<T>());
    } else {
      GivenStatistics(ctx, layout.channels);
    }
    const T* in = x.data<T>();
    const float *mean = mean_.data(), *gain = gain_.data(), *offset = ctx.input(2).data<float>();
    MapElements(ctx, layout, y, [=](int64_t c, int64_t i) {
      return (LoadFloat(in, i) - mean[c]) * gain[c] + offset[c];
    });
  }

 private:
  static float* Out(KernelContext& ctx, int i, int64_t channels) {
    return ctx.AllocateOutput(i, Shape{channels}).template data<float>();
  }

  void CheckInputs(KernelContext& ctx, int64_t channels) const {
    CheckChannels(ctx.input(1), "scale", channels);
    CheckChannels(ctx.input(2), "offset", channels);
    const char* when =
        training_ ? "When exponential_avg_factor != 1, " : "When is_training=false, ";
    if (training_ && factor_ == 1.0f) return;
    CheckChannels(ctx.input(3), "mean", channels, when);
    CheckChannels(ctx.input(4), "variance", channels, when);
  }

  // Statistics of nothing.
  void FillEmpty(KernelContext& ctx, int64_t channels) {
    for (int i = 1; i < 5; ++i) {
      const float value = i < 3 ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
      std::fill_n(Out(ctx, i, channels), channels, value);
    }
  }

  void SetStatistics(KernelContext& ctx, const ChannelLayout& layout, const T* x) {
    ChannelMoments(ctx, layout, x, moments_);
    const float* scale = ctx.input(1).data<float>();
    float *batch_mean = Out(ctx, 1, layout.channels),
          *batch_variance = Out(ctx, 2, layout.channels);
    float *saved_mean = Out(ctx, 3, layout.channels),
          *saved_variance = Out(ctx, 4, layout.channels);
    const double count = static_cast<double>(layout.count());
    const double correction = count > 1 ? count / (count - 1) : 1.0;
    for (int64_t c = 0; c < layout.channels; ++c) {
      const double mean = moments_[c].mean, variance = moments_[c].deviations / count;
      saved_mean[c] = mean_[c] = static_cast<float>(mean);
      saved_variance[c] = static_cast<float>(variance);
      gain_[c] = static_cast<float>(scale[c] / std::sqrt(variance + epsilon_));
      batch_mean[c] = Averaged(ctx.input(3), c, mean);
      batch_variance[c] = Averaged(ctx.input(4), c, variance * correction);
    }
  }
  // The running average "old" moved towards the batch's value.
  float Averaged(const Tensor& old, int64_t c, double value) const {
    if (factor_ == 1.0f) return static_cast<float>(value);
    return static_cast<float>((1.0 - factor_) * old.data<float>()[c] + factor_ * value);
  }

  void GivenStatistics(KernelContext& ctx, int64_t channels) {
    const float* scale = ctx.input(1).data<float>();
    const float *mean = ctx.input(3).data<float>(), *variance = ctx.input(4).data<float>();
    for (int64_t c = 0; c < channels; ++c) {
      mean_[c] = mean[c];
      gain_[c] = scale[c] / std::sqrt(variance[c] + epsilon_);
    }
    for (int i = 1; i < 5; ++i)
      std::copy_n(i % 2 ? mean : variance, channels, Out(ctx, i, channels));
  }

  const int rank_;
  const bool channels_first_, training_;
  const float epsilon_, factor_;
  std::vector<RunningMoments> moments_;
  std::vector<float> mean_, gain_;  // y = (x - mean) * gain + offset
};

template <typename T>
class FusedBatchNormGradKernel final : public Kernel {
 public:
  explicit FusedBatchNormGradKernel(KernelInit& init)
      : rank_(static_cast<int>(init.attr<std::string>("data_format").size())),
        channels_first_(DataFormat::Parse(init.attr<std::string>("data_format")).channels_first),
        training_(init.attr<bool>("is_training")),
        epsilon_(init.attr<float>("epsilon")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &grad_y = ctx.input(0), &x = ctx.input(1);
    CheckInputs(grad_y, x);
    const ChannelLayout layout(x.shape(), channels_first_);
    CheckChannels(ctx.input(2), "scale", layout.channels);
    CheckChannels(ctx.input(3), "reserve_space_1", layout.channels);
    CheckChannels(ctx.input(4), "reserve_space_2", layout.channels);
    const T *dy = grad_y.data<T>(), *in = x.data<T>();
    T* dx = ctx.AllocateOutput(0, x.shape()).template data<T>();
    AddUp(ctx, layout, dy, in);
    SetCoefficients(ctx, layout);
    ctx.AllocateOutput(3, Shape{0});
    ctx.AllocateOutput(4, Shape{0});
    const float *mean = ctx.input(3).data<float>(), *gain = gain_.data();
    if (!training_) {
      return MapElements(ctx, layout, dx,
                         [=](int64_t c, int64_t i) { return LoadFloat(dy, i) * gain[c]; });
    }
    const float *average = average_.data(), *slope = slope_.data();
    MapElements(ctx, layout, dx, [=](int64_t c, int64_t i) {
      return gain[c] * (LoadFloat(dy, i) - average[c] - (LoadFloat(in, i) - mean[c]) * slope[c]);
    });
  }

 private:
  void CheckInputs(const Tensor& grad_y, const Tensor& x) const {
    CheckRank(grad_y, "y_backprop", rank_);
    CheckRank(x, "x", rank_);
    if (grad_y.shape() == x.shape()) return;
    throw InvalidArgument(
        "x and y_backprop must have same shape, but x has shape {} and "
        "y_backprop has shape {}",
        x.shape().ToString(), grad_y.shape().ToString());
  }

  // Per channel the sums of dy and of dy * (x - mean).
  void AddUp(KernelContext& ctx, const ChannelLayout& layout, const T* dy, const T* x) {
    const int64_t channels = layout.channels;
    const float* mean = ctx.input(3).data<float>();
    sum_.assign(channels, 0.0);
    product_.assign(channels, 0.0);
    if (!layout.interleaved()) {
      return ForStretches(ctx, layout, 0.6, [&](int64_t c, int64_t at, int64_t count) {
        const T *g = dy + at, *v = x + at;
        const float m = mean[c];
        sum_[c] += SumOf(count, [=](int64_t i) { return LoadFloat(g, i); });
        product_[c] +=
            SumOf(count, [=](int64_t i) { return LoadFloat(g, i) * (LoadFloat(v, i) - m); });
      });
    }
    FoldRows(
        ctx, layout, 2, 0.6,
        [=](int64_t first, int64_t rows, float* sums) {
          float *sum = sums, *product = sums + channels;
          for (int64_t r = first; r < first + rows; ++r) {
            const T *g = dy + r * channels, *v = x + r * channels;
            for (int64_t c = 0; c < channels; ++c) {
              sum[c] += LoadFloat(g, c);
              product[c] += LoadFloat(g, c) * (LoadFloat(v, c) - mean[c]);
            }
          }
        },
        [&](int64_t, const float* sums) {
          for (int64_t c = 0; c < channels; ++c) {
            sum_[c] += sums[c];
            product_[c] += sums[channels + c];
          }
        });
  }

  void SetCoefficients(KernelContext& ctx, const ChannelLayout& layout) {
    const float *scale = ctx.input(2).data<float>(), *variance = ctx.input(4).data<float>();
    const Shape vector{layout.channels};
    float* grad_scale = ctx.AllocateOutput(1, vector).template data<float>();
    float* grad_offset = ctx.AllocateOutput(2, vector).template data<float>();
    gain_.resize(layout.channels);
    average_.resize(layout.channels);
    slope_.resize(layout.channels);
    const double count = static_cast<double>(layout.count());
    for (int64_t c = 0; c < layout.channels; ++c) {
      const double square = static_cast<double>(variance[c]) + epsilon_;
      const double inverse = 1.0 / std::sqrt(square);
      grad_offset[c] = static_cast<float>(sum_[c]);
      grad_scale[c] = count > 0 ? static_cast<float>(product_[c] * inverse) : 0.0f;
      gain_[c] = static_cast<float>(scale[c] * inverse);
      average_[c] = static_cast<float>(sum_[c] / count);
      slope_[c] = static_cast<float>(product_[c] / count / square);
    }
  }

  const int rank_;
  const bool channels_first_, training_;
  const float epsilon_;
  std::vector<double> sum_, product_;
  // dx = gain * (dy - average - (x - mean) * slope)
  std::vector<float> gain_, average_, slope_;
};

}  // namespace

void RegisterBatchNormCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("FusedBatchNorm")
                   .Type<float>("T")
                   .InPlace(0, 0)
                   .Make<FusedBatchNormKernel<float>>());
  registry.Add(KernelDef("FusedBatchNormGrad")
                   .Type<float>("T")
                   .InPlace(0, 0)
                   .Make<FusedBatchNormGradKernel<float>>());
  ForTypes<float, Half, BFloat16>([&]<typename T>() {
    for (const char* op : {"FusedBatchNormV2", "FusedBatchNormV3"}) {
      registry.Add(KernelDef(op)
                       .Type<T>("T")
                       .template Type<float>("U")
                       .InPlace(0, 0)
                       .template Make<FusedBatchNormKernel<T>>());
    }
    for (const char* op : {"FusedBatchNormGradV2", "FusedBatchNormGradV3"}) {
      registry.Add(KernelDef(op)
                       .Type<T>("T")
                       .template Type<float>("U")
                       .InPlace(0, 0)
                       .template Make<FusedBatchNormGradKernel<T>>());
    }
  });
}

}  // namespace sextant
