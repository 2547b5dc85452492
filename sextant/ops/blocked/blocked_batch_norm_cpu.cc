// Batch normalization on blocked images, forward and backward, with addition and Relu fused in; the
// loops and formulas are in channel_loops.cc.
//
// The unit of work is a plane: the pixels of one block of channels of one image. A first parallel
// loop over all planes of the batch takes the sums of each, a serial one adds them up by channel, a
// second parallel loop applies scale and shift. With 128 images of 16 x 16 pixels and 32 channels
// in blocks of 16 these are 256 planes of 16 KB, which stay in the cache of the core that reads
// them.
//
// Sums are float within a plane, double across planes, in the order of the images, so that they do
// not depend on the number of threads. They are taken of x minus a pixel of the first image: the
// squares of values far from zero would drown their variance.
#include <cmath>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/blocked/blocked_shape.h"
#include "sextant/ops/blocked/channel_loops.h"

namespace sextant {
namespace {

constexpr double kNanosecondsPerElement = 0.25;

// The planes of a blocked tensor: pixels of one block of channels of one image.
class Planes {
 public:
  explicit Planes(const Tensor& x) : shape_(ImageShape::OfBlocked(x.shape())), block_(x.dim(4)) {}

  int64_t channels() const { return shape_.c; }
  int64_t pixels() const { return shape_.h * shape_.w; }
  int64_t block() const { return block_; }
  int64_t blocks() const { return shape_.c / block_; }
  int64_t per_channel() const { return shape_.n * pixels(); }

  // body(offset of the plane, its first channel, its number), in parallel.
  template <typename F>
  void ForEach(KernelContext& ctx, const F& body) const {
    const int64_t size = pixels() * block_;
    ctx.ParallelFor(shape_.n * blocks(), kNanosecondsPerElement * static_cast<double>(size),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i)
                        body(i * size, i % blocks() * block_, i);
                    });
  }

  // Two sums per channel: sum(offset, channel, first, second) makes those of a plane.
  template <typename F>
  void Sum(KernelContext& ctx, std::vector<float>& partial, std::vector<double>& sums,
           const F& sum) const {
    const int64_t planes = shape_.n * blocks();
    partial.resize(2 * planes * block_);
    sums.assign(2 * shape_.c, 0.0);
    ForEach(ctx, [&](int64_t offset, int64_t channel, int64_t plane) {
      float* first = partial.data() + 2 * plane * block_;
      sum(offset, channel, first, first + block_);
    });
    for (int64_t plane = 0; plane < planes; ++plane) {
      const float* from = partial.data() + 2 * plane * block_;
      double* to = sums.data() + plane % blocks() * block_;
      for (int64_t l = 0; l < block_; ++l) {
        to[l] += from[l];
        to[shape_.c + l] += from[block_ + l];
      }
    }
  }

 private:
  const ImageShape shape_;
  const int64_t block_;
};

void CheckInputs(KernelContext& ctx, int images, int first_vector, int last_vector,
                 bool may_be_empty) {
  const Tensor& x = ctx.input(images);
  if (x.rank() != 5)
    throw InvalidArgument("blocked images must have 5 dimensions, got {}", x.Describe());
  const int64_t channels = x.dim(1) * x.dim(4);
  for (int i = first_vector; i <= last_vector; ++i) {
    const int64_t count = ctx.input(i).num_elements();
    if (count == channels || (may_be_empty && i >= 3 && count == 0)) continue;
    throw InvalidArgument("{} for images of {} channels", ctx.input(i).Describe(), channels);
  }
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    if ((i < first_vector || i > last_vector) && !(ctx.input(i).shape() == x.shape())) {
      throw InvalidArgument("{} beside images of shape {}", ctx.input(i).Describe(),
                            x.shape().ToString());
    }
  }
}

class BlockedBatchNormKernel final : public Kernel {
 public:
  explicit BlockedBatchNormKernel(KernelInit& init)
      : epsilon_(init.attr<float>("epsilon")),
        factor_(init.attr<float>("exponential_avg_factor")),
        training_(init.attr<bool>("is_training")),
        relu_(init.attr<bool>("relu")) {}

  void Compute(KernelContext& ctx) override {
    CheckInputs(ctx, 0, 1, 4, training_ && factor_ == 1.0f);
    const Tensor& x = ctx.input(0);
    const Planes planes(x);
    const int64_t channels = planes.channels();
    const Shape vector{channels};
    float* batch_mean = ctx.AllocateOutput(1, vector).data<float>();
    float* batch_variance = ctx.AllocateOutput(2, vector).data<float>();
    float* mean = ctx.AllocateOutput(3, vector).data<float>();
    float* variance = ctx.AllocateOutput(4, vector).data<float>();
    const float *given_mean = ctx.input(3).data<float>(),
                *given_variance = ctx.input(4).data<float>();
    if (training_) {
      Statistics(ctx, planes, x.data<float>(), mean, variance);
      const auto count = static_cast<double>(planes.per_channel());
      const double correction = count / std::max(1.0, count - 1);
      for (int64_t c = 0; c < channels; ++c) {
        batch_mean[c] = mean[c];
        batch_variance[c] = static_cast<float>(variance[c] * correction);
        if (factor_ == 1.0f) continue;
        batch_mean[c] = factor_ * batch_mean[c] + (1 - factor_) * given_mean[c];
        batch_variance[c] = factor_ * batch_variance[c] + (1 - factor_) * given_variance[c];
      }
    } else {
      for (int64_t c = 0; c < channels; ++c) {
        batch_mean[c] = mean[c] = given_mean[c];
        batch_variance[c] = variance[c] = given_variance[c];
      }
    }
    a_.resize(channels);
    b_.resize(channels);
    const float *scale = ctx.input(1).data<float>(), *offset = ctx.input(2).data<float>();
    for (int64_t c = 0; c < channels; ++c) {
      a_[c] = static_cast<float>(scale[c] / std::sqrt(double{variance[c]} + epsilon_));
      b_[c] = offset[c] - mean[c] * a_[c];
    }
    const float* addend = ctx.num_inputs() > 5 ? ctx.input(5).data<float>() : nullptr;
    const float* in = x.data<float>();
    float* y = ctx.AllocateOutput(0, x.shape()).data<float>();
    const ChannelLoops& loops = BestChannelLoops();
    planes.ForEach(ctx, [&](int64_t at, int64_t c, int64_t) {
      loops.apply(in + at, addend ? addend + at : nullptr, planes.pixels(), planes.block(), &a_[c],
                  &b_[c], relu_, y + at);
    });
  }

 private:
  void Statistics(KernelContext& ctx, const Planes& planes, const float* x, float* mean,
                  float* variance) {
    const int64_t channels = planes.channels(), block = planes.block();
    if (planes.per_channel() == 0) {
      for (int64_t c = 0; c < channels; ++c) mean[c] = variance[c] = std::nanf("");
      return;
    }
    shift_.resize(channels);
    for (int64_t c = 0; c < channels; ++c) {
      shift_[c] = x[c / block * block * planes.pixels() + c % block];
      if (!std::isfinite(shift_[c])) shift_[c] = 0;
    }
    const ChannelLoops& loops = BestChannelLoops();
    planes.Sum(ctx, partial_, sums_, [&](int64_t offset, int64_t c, float* sum, float* squares) {
      loops.sums(x + offset, planes.pixels(), block, &shift_[c], sum, squares);
    });
    const auto count = static_cast<double>(planes.per_channel());
    for (int64_t c = 0; c < channels; ++c) {
      const double average = sums_[c] / count;
      mean[c] = static_cast<float>(shift_[c] + average);
      variance[c] =
          static_cast<float>(std::max(0.0, sums_[channels + c] / count - average * average));
      if (std::isnan(sums_[channels + c])) variance[c] = std::nanf("");
    }
  }

  const float epsilon_, factor_;
  const bool training_, relu_;
  std::vector<float> partial_, shift_, a_, b_;
  std::vector<double> sums_;
};

class BlockedBatchNormGradKernel final : public Kernel {
 public:
  explicit BlockedBatchNormGradKernel(KernelInit& init)
      : epsilon_(init.attr<float>("epsilon")), training_(init.attr<bool>("is_training")) {}

  void Compute(KernelContext& ctx) override {
    CheckInputs(ctx, 1, 2, 4, false);
    const Tensor& x = ctx.input(1);
    const Planes planes(x);
    const int64_t channels = planes.channels(), pixels = planes.pixels(), block = planes.block();
    const float *dy = ctx.input(0).data<float>(), *in = x.data<float>(),
                *scale = ctx.input(2).data<float>(), *mean = ctx.input(3).data<float>(),
                *variance = ctx.input(4).data<float>();
    const float* active = ctx.num_inputs() > 5 ? ctx.input(5).data<float>() : nullptr;
    const auto at = [](const float* data, int64_t offset) {
      return data ? data + offset : nullptr;
    };
    const ChannelLoops& loops = BestChannelLoops();
    planes.Sum(ctx, partial_, sums_, [&](int64_t offset, int64_t c, float* sum, float* dot) {
      loops.gradient_sums(dy + offset, at(active, offset), in + offset, pixels, block, mean + c,
                          sum, dot);
    });
    float* d_scale = ctx.AllocateOutput(1, Shape{channels}).data<float>();
    float* d_offset = ctx.AllocateOutput(2, Shape{channels}).data<float>();
    for (std::vector<float>* v : {&a_, &b_, &c_}) v->assign(channels, 0.0f);
    const auto count = static_cast<double>(planes.per_channel());
    for (int64_t c = 0; c < channels; ++c) {
      const double inverse = 1 / std::sqrt(double{variance[c]} + epsilon_), sum = sums_[c],
                   dot = sums_[channels + c];
      d_scale[c] = static_cast<float>(dot * inverse);
      d_offset[c] = static_cast<float>(sum);
      a_[c] = static_cast<float>(scale[c] * inverse);
      if (!training_ || count == 0) continue;
      b_[c] = static_cast<float>(-scale[c] * inverse * inverse * inverse * dot / count);
      c_[c] = static_cast<float>(-scale[c] * inverse * sum / count);
    }
    float* dx = ctx.AllocateOutput(0, x.shape()).data<float>();
    planes.ForEach(ctx, [&](int64_t offset, int64_t c, int64_t) {
      loops.gradient_apply(dy + offset, at(active, offset), in + offset, pixels, block, mean + c,
                           &a_[c], &b_[c], &c_[c], dx + offset);
    });
  }

 private:
  const float epsilon_;
  const bool training_;
  std::vector<float> partial_, a_, b_, c_;
  std::vector<double> sums_;
};

}  // namespace

void RegisterBlockedBatchNormCpu(KernelRegistry& registry) {
  // The statistics are complete before an element of x or of the addend is overwritten, and nothing
  // is read twice then.
  registry.Add(
      KernelDef("_BlockedBatchNorm").InPlace(0, 5).InPlace(0, 0).Make<BlockedBatchNormKernel>());
  registry.Add(KernelDef("_BlockedBatchNormGrad").InPlace(0, 0).Make<BlockedBatchNormGradKernel>());
}

}  // namespace sextant
