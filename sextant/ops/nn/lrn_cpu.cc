#include <algorithm>
#include <cmath>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/nn/widened.h"

namespace sextant {
namespace {

struct LrnParameters {
  int64_t radius;
  float bias, alpha, beta;

  explicit LrnParameters(KernelInit& init)
      : radius(init.attr<int64_t>("depth_radius")),
        bias(init.attr<float>("bias")),
        alpha(init.attr<float>("alpha")),
        beta(init.attr<float>("beta")) {
    if (radius < 0 || radius > (int64_t{1} << 31) - 1) {
      throw InvalidArgument("depth_radius = {} must be in [0, 2^31)", radius);
    }
  }

  int64_t begin(int64_t c) const { return std::max<int64_t>(0, c - radius); }
  int64_t end(int64_t c, int64_t depth) const { return std::min(depth, c + radius + 1); }
  // What element c of a pixel is divided by, before the power.
  float Norm(const float* x, int64_t c, int64_t depth) const {
    float sum = 0;
    for (int64_t k = begin(c); k < end(c, depth); ++k) sum += x[k] * x[k];
    return bias + alpha * sum;
  }
  double Cost(int64_t depth) const {
    return static_cast<double>(depth * std::min(depth, 2 * radius + 1)) +
           20.0 * static_cast<double>(depth);
  }
};

void CheckRank(const Tensor& tensor, const char* name) {
  if (tensor.rank() == 4) return;
  throw InvalidArgument("{} must be 4-dimensional, got {}", name, tensor.shape().ToString());
}

template <typename T>
class LrnKernel final : public Kernel {
 public:
  explicit LrnKernel(KernelInit& init) : parameters_(init) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    CheckRank(input, "in");
    Tensor& output = ctx.AllocateOutput(0, input.shape());
    if (input.num_elements() == 0) return;
    const WidenedInput<T> x(ctx, input);
    WidenedOutput<T> y(ctx, output);
    const int64_t depth = input.dim(3);
    ctx.ParallelFor(input.num_elements() / depth, parameters_.Cost(depth),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t p = begin; p < end; ++p) {
                        const float* from = x.data() + p * depth;
                        float* to = y.data() + p * depth;
                        for (int64_t c = 0; c < depth; ++c) {
                          const float norm = parameters_.Norm(from, c, depth);
                          to[c] = from[c] * std::pow(norm, -parameters_.beta);
                        }
                      }
                    });
    y.Store();
  }

 private:
  const LrnParameters parameters_;
};

// Output j depends on x[i] of its neighbours i: d y[j] / d x[i] =
// -2 alpha beta x[i] y[j] / norm[j], and norm[j]^-beta more where i == j.
template <typename T>
class LrnGradKernel final : public Kernel {
 public:
  explicit LrnGradKernel(KernelInit& init) : parameters_(init) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &grads = ctx.input(0), &input = ctx.input(1), &output = ctx.input(2);
    CheckRank(grads, "in_grads");
    for (const Tensor* other : {&input, &output}) {
      if (other->shape() == grads.shape()) continue;
      throw InvalidArgument(
          "input_grads, input_image, and out_image should have the same shape: {}, {}, {}",
          grads.shape().ToString(), input.shape().ToString(), output.shape().ToString());
    }
    Tensor& result = ctx.AllocateOutput(0, grads.shape());
    if (grads.num_elements() == 0) return;
    const WidenedInput<T> dy(ctx, grads), x(ctx, input), y(ctx, output);
    WidenedOutput<T> dx(ctx, result);
    const int64_t depth = grads.dim(3);
    ctx.ParallelFor(grads.num_elements() / depth, 2 * parameters_.Cost(depth),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t p = begin; p < end; ++p) {
                        const int64_t at = p * depth;
                        Pixel(dy.data() + at, x.data() + at, y.data() + at, dx.data() + at, depth);
                      }
                    });
    dx.Store();
  }

 private:
  void Pixel(const float* dy, const float* x, const float* y, float* dx, int64_t depth) const {
    std::fill_n(dx, depth, 0.0f);
    for (int64_t j = 0; j < depth; ++j) {
      const float norm = parameters_.Norm(x, j, depth);
      const float slope = -2 * parameters_.alpha * parameters_.beta * y[j] / norm * dy[j];
      dx[j] += dy[j] * std::pow(norm, -parameters_.beta);
      for (int64_t i = parameters_.begin(j); i < parameters_.end(j, depth); ++i) {
        dx[i] += slope * x[i];
      }
    }
  }

  const LrnParameters parameters_;
};

}  // namespace

void RegisterLrnCpu(KernelRegistry& registry) {
  ForTypes<float, Half, BFloat16>([&]<typename T>() {
    registry.Add(KernelDef("LRN").Type<T>("T").template Make<LrnKernel<T>>());
    registry.Add(KernelDef("LRNGrad").Type<T>("T").template Make<LrnGradKernel<T>>());
  });
}

}  // namespace sextant
