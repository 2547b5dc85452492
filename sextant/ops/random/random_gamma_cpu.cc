#include <cmath>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/random/distributions.h"
#include "sextant/ops/random/random_stream.h"
#include "sextant/ops/random/real_input.h"

namespace sextant {
namespace {

// Numbers for one sample. A block gives two of a kind, and the second is handed out first.
class Draws {
 public:
  explicit Draws(const Philox& start) : generator_(start) {}

  double Uniform() {
    if (num_uniforms_ == 0) {
      const Philox::Block block = generator_.Next();
      uniforms_[0] = UniformDouble(block[0], block[1]);
      uniforms_[1] = UniformDouble(block[2], block[3]);
      num_uniforms_ = 2;
    }
    return uniforms_[--num_uniforms_];
  }
  double Normal() {
    if (num_normals_ == 0) {
      BoxMuller(generator_.Next(), normals_);
      num_normals_ = 2;
    }
    return normals_[--num_normals_];
  }

 private:
  Philox generator_;
  double uniforms_[2], normals_[2];
  int num_uniforms_ = 0, num_normals_ = 0;
};

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
double Gamma(double alpha, Draws& draws) {
  if (alpha == 1) return -std::log1p(-draws.Uniform());
  const bool boosted = alpha < 1;
  const double d = boosted ? alpha + 2.0 / 3 : alpha - 1.0 / 3;
  const double c = 1.0 / 3 / std::sqrt(d);
  while (true) {
    const double x = draws.Normal();
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = draws.Uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) ||
        std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
      const double sample = d * v;
      return boosted ? sample * std::pow(draws.Uniform(), 1 / alpha) : sample;
    }
  }
}

double LogFactorial(double k) {
  int sign;
  return lgamma_r(k + 1, &sign);
}

// Hoermann, "The transformed rejection method for generating Poisson random variables" (1993).
double LargePoisson(double rate, Draws& draws) {
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double q = 1.1239 + 1.1328 / (b - 3.4);
  const double log_rate = std::log(rate);
  while (true) {
    const double u = draws.Uniform() - 0.5;
    const double v = draws.Uniform();
    const double s = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / s + b) * u + rate + 0.43);
    if (s >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (s < 0.013 && v > s)) continue;
    if (std::log(v * q / (a / (s * s) + b)) <= -rate + k * log_rate - LogFactorial(k)) return k;
  }
}

double Poisson(double rate, Draws& draws) {
  if (std::isnan(rate)) throw InvalidArgument("a Poisson rate is NaN");
  if (std::isinf(rate) && rate > 0) return rate;
  if (rate >= 10) return LargePoisson(rate, draws);
  const double limit = std::exp(-rate);
  double product = draws.Uniform(), count = 0;
  while (product > limit) {
    product *= draws.Uniform();
    ++count;
  }
  return count;
}

template <typename T>
T FromDouble(double value) {
  if constexpr (std::is_integral_v<T>) {
    return std::isinf(value) ? T{0} : static_cast<T>(value);
  } else if constexpr (std::is_same_v<T, Half>) {
    return Half(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <typename T, double (*sample)(double, Draws&)>
class SamplesKernel : public Kernel {
 public:
  explicit SamplesKernel(KernelInit& init) : stream_(init) {}

  void Compute(KernelContext& ctx) override {
    CheckVector(ctx.input(0), "shape");
    const Tensor& parameters = ctx.input(1);
    Shape shape = ShapeFromTensor(ctx.input(0));
    const int64_t samples = shape.num_elements();
    for (const int64_t size : parameters.shape().dims()) shape.Append(size);
    Tensor& out = ctx.AllocateOutput(0, shape);
    const int64_t total = out.num_elements();
    if (total == 0) return;
    ReadReals(parameters, &parameters_);
    const int64_t count = parameters.num_elements();
    const Philox start = stream_.Reserve(ctx, static_cast<uint64_t>(total) * kBlocksPerElement);
    T* data = out.data<T>();
    // Sample k in the stream is number k % samples of parameter k / samples.
    ctx.ParallelFor(total, 100, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        Philox mine = start;
        mine.Skip(static_cast<uint64_t>(k) * kBlocksPerElement);
        Draws draws(mine);
        const int64_t parameter = k / samples;
        data[k % samples * count + parameter] =
            FromDouble<T>(sample(parameters_[parameter], draws));
      }
    });
  }

 private:
  RandomStream stream_;
  std::vector<double> parameters_;
};

}  // namespace

void RegisterRandomGammaCpu(KernelRegistry& registry) {
  ForTypes<Half, float, double>([&]<typename T>() {
    registry.Add(KernelDef("RandomGamma").Type<T>("T").template Make<SamplesKernel<T, Gamma>>());
  });
  ForTypes<Half, float, double, int32_t, int64_t>([&]<typename T>() {
    registry.Add(
        KernelDef("RandomPoissonV2").Type<T>("dtype").template Make<SamplesKernel<T, Poisson>>());
  });
}

}  // namespace sextant
