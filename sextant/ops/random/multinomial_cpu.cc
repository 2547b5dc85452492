#include <algorithm>
#include <cmath>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/random/random_stream.h"
#include "sextant/ops/random/real_input.h"
#include "sextant/ops/random/stateless_seed.h"

namespace sextant {
namespace {

// Replaces the logits of a row by the running sum of their exponentials. Logits that are not finite
// add nothing.
void Accumulate(double* row, int64_t classes) {
  double largest = -INFINITY;
  for (int64_t j = 0; j < classes; ++j) {
    if (std::isfinite(row[j])) largest = std::max(largest, row[j]);
  }
  double sum = 0;
  for (int64_t j = 0; j < classes; ++j) {
    if (std::isfinite(row[j])) sum += std::exp(row[j] - largest);
    row[j] = sum;
  }
}

class Sampler {
 public:
  // Checks the inputs; the shape of the output.
  Shape Prepare(KernelContext& ctx) {
    const Tensor &logits = ctx.input(0), &num_samples = ctx.input(1);
    if (logits.rank() != 2) {
      throw InvalidArgument("logits must be a matrix, got shape {}", logits.shape().ToString());
    }
    if (num_samples.rank() != 0) {
      throw InvalidArgument("num_samples must be a scalar, got shape {}",
                            num_samples.shape().ToString());
    }
    const auto samples = num_samples.scalar<int32_t>();
    if (samples < 0) throw InvalidArgument("num_samples must not be negative, got {}", samples);
    if (logits.dim(1) == 0) throw InvalidArgument("there are no classes to choose from");
    return {logits.dim(0), samples};
  }

  template <typename T>
  void Draw(KernelContext& ctx, const Philox& start, Tensor& out) {
    const int64_t samples = out.dim(1), classes = ctx.input(0).dim(1);
    ReadReals(ctx.input(0), &sums_);
    T* result = out.data<T>();
    const auto cost = static_cast<double>(classes * 10 + samples * 30);
    ctx.ParallelFor(out.dim(0), cost, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        double* sums = sums_.data() + b * classes;
        Accumulate(sums, classes);
        for (int64_t s = 0; s < samples; ++s) {
          const double drawn = UniformAt(start, b * samples + s) * sums[classes - 1];
          result[b * samples + s] =
              static_cast<T>(std::upper_bound(sums, sums + classes, drawn) - sums);
        }
      }
    });
  }
  void DrawAny(KernelContext& ctx, const Philox& start, Tensor& out) {
    out.dtype() == DType::kInt32 ? Draw<int32_t>(ctx, start, out) : Draw<int64_t>(ctx, start, out);
  }

 private:
  // Number i of the stream; each takes two words.
  static double UniformAt(Philox generator, int64_t i) {
    generator.Skip(static_cast<uint64_t>(i) / 2);
    const Philox::Block block = generator.Next();
    return i % 2 == 0 ? UniformDouble(block[0], block[1]) : UniformDouble(block[2], block[3]);
  }

  std::vector<double> sums_;
};

class MultinomialKernel : public Kernel {
 public:
  explicit MultinomialKernel(KernelInit& init) : stream_(init) {}

  void Compute(KernelContext& ctx) override {
    Tensor& out = ctx.AllocateOutput(0, sampler_.Prepare(ctx));
    if (out.num_elements() == 0) return;
    const auto rounded = static_cast<uint64_t>(out.dim(1) + 3) / 4 * 4;
    const uint64_t blocks = static_cast<uint64_t>(out.dim(0)) * rounded * 2 * kBlocksPerElement;
    sampler_.DrawAny(ctx, stream_.Reserve(ctx, blocks), out);
  }

 private:
  Sampler sampler_;
  RandomStream stream_;
};

class StatelessMultinomialKernel : public Kernel {
 public:
  explicit StatelessMultinomialKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Philox start = StreamOfSeed(ctx.input(2));
    Tensor& out = ctx.AllocateOutput(0, sampler_.Prepare(ctx));
    if (out.num_elements() > 0) sampler_.DrawAny(ctx, start, out);
  }

 private:
  Sampler sampler_;
};

}  // namespace

void RegisterMultinomialCpu(KernelRegistry& registry) {
  const std::vector<DType> types = {DType::kHalf, DType::kBFloat16, DType::kFloat, DType::kDouble};
  registry.Add(KernelDef("Multinomial").Types("T", types).Make<MultinomialKernel>());
  registry.Add(
      KernelDef("StatelessMultinomial").Types("T", types).Make<StatelessMultinomialKernel>());
}

}  // namespace sextant
