#include <algorithm>
#include <array>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/nn/lrn_loops.h"
#include "sextant/ops/nn/widened.h"

namespace sextant {
namespace {

class LrnParameters {
 public:
  explicit LrnParameters(KernelInit& init)
      : radius_(init.attr<int64_t>("depth_radius")),
        bias_(init.attr<float>("bias")),
        alpha_(init.attr<float>("alpha")),
        beta_(init.attr<float>("beta")) {
    if (radius_ < 0 || radius_ > (int64_t{1} << 31) - 1) {
      throw InvalidArgument("depth_radius = {} must be in [0, 2^31)", radius_);
    }
  }

  LrnPixels Of(int64_t depth) const {
    return {.depth = depth,
            .reach = std::min(radius_, depth - 1),
            .bias = bias_,
            .alpha = alpha_,
            .beta = beta_};
  }

 private:
  const int64_t radius_;
  const float bias_, alpha_, beta_;
};

double Cost(const LrnPixels& p) {
  return static_cast<double>(p.depth) * (20.0 + static_cast<double>(2 * p.reach + 1) / 4);
}

// What the loops of one thread work in.
class Scratch {
 public:
  explicit Scratch(const LrnPixels& p) {
    const auto size = static_cast<size_t>(p.scratch());
    if (size > few_.size()) many_.resize(size);
  }
  float* data() { return many_.empty() ? few_.data() : many_.data(); }

 private:
  std::array<float, 2048> few_;  // spares an allocation in each run
  std::vector<float> many_;
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
    const LrnPixels p = parameters_.Of(input.dim(3));
    ctx.ParallelFor(input.num_elements() / p.depth, Cost(p), [&](int64_t begin, int64_t end) {
      const int64_t at = begin * p.depth;
      BestLrnLoops().forward(p, end - begin, x.data() + at, y.data() + at, Scratch(p).data());
    });
    y.Store();
  }

 private:
  const LrnParameters parameters_;
};

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
    const LrnPixels p = parameters_.Of(grads.dim(3));
    ctx.ParallelFor(grads.num_elements() / p.depth, 2 * Cost(p), [&](int64_t begin, int64_t end) {
      const int64_t at = begin * p.depth;
      BestLrnLoops().gradient(p, end - begin, dy.data() + at, x.data() + at, y.data() + at,
                              dx.data() + at, Scratch(p).data());
    });
    dx.Store();
  }

 private:
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
