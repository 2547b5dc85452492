#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <vector>

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

  // How far the neighbourhood of a channel reaches among "depth" channels.
  int64_t reach(int64_t depth) const { return std::min(radius, depth - 1); }
  double Cost(int64_t depth) const {
    return static_cast<double>(depth) * (20.0 + static_cast<double>(2 * reach(depth) + 1) / 4);
  }
};

using Row = Eigen::Map<Eigen::ArrayXf>;
using ConstRow = Eigen::Map<const Eigen::ArrayXf>;

// What one pixel after another needs: rows of "depth" floats, one of which has zeros on both sides,
// so that sums over neighbourhoods are sums of shifted rows, which vectorise.
class PixelRows {
 public:
  PixelRows(const LrnParameters& parameters, int64_t depth)
      : parameters_(parameters), depth_(depth), reach_(parameters.reach(depth)) {
    const auto size = static_cast<size_t>(4 * depth + 2 * reach_);
    if (size > few_.size()) many_.resize(size);
    float* data = many_.empty() ? few_.data() : many_.data();
    norm_ = data;
    factor_ = data + depth;
    sums_ = data + 2 * depth;
    padded_ = data + 3 * depth;
    std::fill_n(padded_, depth + 2 * reach_, 0.0f);
  }
  PixelRows(const PixelRows&) = delete;
  PixelRows& operator=(const PixelRows&) = delete;

  Row norm() const { return Row(norm_, depth_); }      // what is raised to the power
  Row factor() const { return Row(factor_, depth_); }  // norm to the power of -beta
  Row sums() const { return Row(sums_, depth_); }
  Row values() const { return Row(padded_ + reach_, depth_); }

  // sums() of values() over each channel's neighbourhood.
  void AddNeighbours() const {
    sums() = Row(padded_, depth_);
    for (int64_t k = 1; k <= 2 * reach_; ++k) sums() += Row(padded_ + k, depth_);
  }
  // norm() and factor() of a pixel.
  void Normalize(ConstRow x) const {
    values() = x.square();
    AddNeighbours();
    norm() = parameters_.bias + parameters_.alpha * sums();
    if (parameters_.beta == 0.75f) {
      factor() = norm().sqrt().inverse();
      factor() *= factor().sqrt();
    } else if (parameters_.beta == 0.5f) {
      factor() = norm().sqrt().inverse();
    } else {
      factor() = norm().pow(-parameters_.beta);
    }
  }

 private:
  const LrnParameters& parameters_;
  const int64_t depth_, reach_;
  std::array<float, 2048> few_;  // spares an allocation in each run
  std::vector<float> many_;
  float *norm_, *factor_, *sums_, *padded_;
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
                      const PixelRows rows(parameters_, depth);
                      for (int64_t p = begin; p < end; ++p) {
                        const ConstRow from(x.data() + p * depth, depth);
                        rows.Normalize(from);
                        Row(y.data() + p * depth, depth) = from * rows.factor();
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
                      const PixelRows rows(parameters_, depth);
                      for (int64_t p = begin; p < end; ++p) {
                        const int64_t at = p * depth;
                        Pixel(ConstRow(dy.data() + at, depth), ConstRow(x.data() + at, depth),
                              ConstRow(y.data() + at, depth), rows, Row(dx.data() + at, depth));
                      }
                    });
    dx.Store();
  }

 private:
  void Pixel(ConstRow dy, ConstRow x, ConstRow y, const PixelRows& rows, Row dx) const {
    rows.Normalize(x);
    rows.values() = (-2 * parameters_.alpha * parameters_.beta) * y / rows.norm() * dy;
    rows.AddNeighbours();
    dx = dy * rows.factor() + x * rows.sums();
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
