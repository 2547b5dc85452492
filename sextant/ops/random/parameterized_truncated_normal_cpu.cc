#include <algorithm>
#include <cmath>
#include <compare>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/random/distributions.h"
#include "sextant/ops/random/random_stream.h"

namespace sextant {
namespace {

constexpr int kMaxMisses = 1000;
// Plain rejection pays when a bound is at least this many standard deviations beyond the mean.
constexpr double kWide = 1.3;

// A half to compute with: every operation is done in float and rounded.
class HalfNumber {
 public:
  HalfNumber() = default;
  HalfNumber(double value) : value_(Round(static_cast<float>(value))) {}  // NOLINT: for literals
  explicit HalfNumber(Half value) : value_(static_cast<float>(value)) {}
  explicit operator Half() const { return Half(value_); }
  explicit operator float() const { return value_; }

  HalfNumber operator-() const { return -value_; }
  friend HalfNumber operator+(HalfNumber a, HalfNumber b) { return a.value_ + b.value_; }
  friend HalfNumber operator-(HalfNumber a, HalfNumber b) { return a.value_ - b.value_; }
  friend HalfNumber operator*(HalfNumber a, HalfNumber b) { return a.value_ * b.value_; }
  friend HalfNumber operator/(HalfNumber a, HalfNumber b) { return a.value_ / b.value_; }
  friend bool operator==(HalfNumber a, HalfNumber b) { return a.value_ == b.value_; }
  friend auto operator<=>(HalfNumber a, HalfNumber b) { return a.value_ <=> b.value_; }
  friend HalfNumber sqrt(HalfNumber a) { return std::sqrt(a.value_); }
  friend HalfNumber exp(HalfNumber a) { return std::exp(a.value_); }
  friend HalfNumber log(HalfNumber a) { return std::log(a.value_); }
  friend bool isfinite(HalfNumber a) { return std::isfinite(a.value_); }

 private:
  static float Round(float value) { return static_cast<float>(Half(value)); }
  float value_ = 0;
};

// What computes numbers stored as Out, and how many of them a block gives.
template <typename Out>
using Computed = std::conditional_t<std::is_same_v<Out, Half>, HalfNumber, Out>;
template <typename T>
constexpr int kPerBlock = sizeof(T) == 8 ? 2 : 4;

void Uniforms(Philox& generator, float* out) {
  const Philox::Block block = generator.Next();
  for (int i = 0; i < 4; ++i) out[i] = UniformFloat(block[i]);
}
void Uniforms(Philox& generator, double* out) {
  const Philox::Block block = generator.Next();
  out[0] = UniformDouble(block[0], block[1]);
  out[1] = UniformDouble(block[2], block[3]);
}
void Uniforms(Philox& generator, HalfNumber* out) {
  const Philox::Block block = generator.Next();
  for (int i = 0; i < 4; ++i) out[i] = HalfNumber(Half::FromBits(UniformHalfBits(block[i])));
}
void Normals(Philox& generator, float* out) {
  const Philox::Block block = generator.Next();
  BoxMuller(block[0], block[1], out);
  BoxMuller(block[2], block[3], out + 2);
}
void Normals(Philox& generator, double* out) { BoxMuller(generator.Next(), out); }
void Normals(Philox& generator, HalfNumber* out) {
  float values[4];
  Normals(generator, values);
  std::copy_n(values, 4, out);
}

// Where the samples of one batch go: takes them until the batch is full.
template <typename T, typename Out>
class Batch {
 public:
  Batch(Out* out, int64_t count, T mean, T stddev)
      : out_(out), left_(count), mean_(mean), stddev_(stddev) {}
  bool full() const { return left_ == 0; }
  void Take(T z, bool accepted) {
    if (!accepted) {
      if (++misses_ > kMaxMisses) {
        throw Internal("no sample between the bounds in {} draws", kMaxMisses);
      }
      return;
    }
    misses_ = 0;
    *out_++ = Out(z * stddev_ + mean_);
    --left_;
  }

 private:
  Out* out_;
  int64_t left_;
  const T mean_, stddev_;
  int misses_ = 0;
};

// Robert, "Simulation of truncated normal variables" (1995); bounds in standard deviations.
template <typename T, typename Out>
void Sample(Philox& generator, T lo, T hi, Batch<T, Out> batch) {
  using std::exp, std::log, std::sqrt;
  constexpr int n = kPerBlock<T>;
  const T root = sqrt(lo * lo + T(4));
  const T cutoff = T(2) * exp(T(0.5) + lo * (lo - root) / T(4)) / (lo + root);
  T r[n], u[n];
  if ((lo < T(-kWide) && hi >= T(0)) || (hi > T(kWide) && lo <= T(0))) {
    while (!batch.full()) {
      Normals(generator, r);
      for (int i = 0; i < n && !batch.full(); ++i) batch.Take(r[i], r[i] >= lo && r[i] <= hi);
    }
  } else if (hi - lo < cutoff) {
    const T peak = lo < T(0) ? T(0) : lo * lo;
    while (!batch.full()) {
      Uniforms(generator, r);
      Uniforms(generator, u);
      for (int i = 0; i < n && !batch.full(); ++i) {
        const T z = r[i] * (hi - lo) + lo;
        batch.Take(z, u[i] <= exp((peak - z * z) / T(2)));
      }
    }
  } else {
    const T alpha = (lo + root) / T(2);
    while (!batch.full()) {
      Uniforms(generator, r);
      for (int i = 0; i < n && !batch.full(); i += 2) {
        const T z = -log(r[i]) / alpha + lo;
        const T x = lo < alpha ? alpha - z : lo - alpha;
        batch.Take(z, r[i + 1] <= exp(-x * x / T(2)) && z < hi);
      }
    }
  }
}

template <typename Out>
class ParameterizedTruncatedNormalKernel : public Kernel {
 public:
  using T = Computed<Out>;

  explicit ParameterizedTruncatedNormalKernel(KernelInit& init) : stream_(init) {}

  void Compute(KernelContext& ctx) override {
    CheckVector(ctx.input(0), "shape");
    const Shape shape = ShapeFromTensor(ctx.input(0));
    if (shape.rank() == 0) throw InvalidArgument("shape must not be empty");
    const Tensor *means = &ctx.input(1), *stddevs = &ctx.input(2), *lows = &ctx.input(3),
                 *highs = &ctx.input(4);
    for (const Tensor* parameter : {means, stddevs, lows, highs}) {
      if (parameter->rank() > 1 ||
          (parameter->num_elements() != 1 && parameter->num_elements() != shape[0])) {
        throw InvalidArgument("a parameter must be a scalar or have {} elements, got shape {}",
                              shape[0], parameter->shape().ToString());
      }
    }
    Tensor& out = ctx.AllocateOutput(0, shape);
    const int64_t total = out.num_elements();
    if (total == 0) return;
    const bool same = means->num_elements() == 1 && stddevs->num_elements() == 1 &&
                      lows->rank() == 0 && highs->rank() == 0;
    // One generator serves all batches one after another, so the numbers depend on their size.
    const int64_t per_batch = same ? std::min<int64_t>(kSameBatch, total) : total / shape[0];
    const int64_t batches = (total + per_batch - 1) / per_batch;
    Philox generator =
        stream_.Reserve(ctx, static_cast<uint64_t>(batches * 2 * kMaxMisses * (per_batch + 3) / 4));
    const auto at = [](const Tensor& t, int64_t b) {
      return T(t.data<Out>()[t.num_elements() == 1 ? 0 : b]);
    };
    for (int64_t b = 0; b < batches; ++b) {
      Out* data = out.data<Out>() + b * per_batch;
      const int64_t count = std::min(per_batch, total - b * per_batch);
      DrawBatch(generator, at(*means, b), at(*stddevs, b), at(*lows, b), at(*highs, b), data,
                count);
    }
  }

 private:
  static constexpr int64_t kSameBatch = 100;

  static void DrawBatch(Philox& generator, T mean, T stddev, T low, T high, Out* out,
                        int64_t count) {
    using std::isfinite;
    if (!(stddev > T(0)) || !(low < high) || (!isfinite(low) && !isfinite(high))) {
      throw InvalidArgument("invalid parameters: mean {}, stddev {}, bounds [{}, {}]",
                            static_cast<float>(mean), static_cast<float>(stddev),
                            static_cast<float>(low), static_cast<float>(high));
    }
    // Seen from the other side the finite bound is the lower one, or both are above the mean.
    if (low == T(-INFINITY) || high < mean) {
      std::swap(low, high);
      stddev = -stddev;
    }
    Sample<T, Out>(generator, (low - mean) / stddev, (high - mean) / stddev,
                   Batch<T, Out>(out, count, mean, stddev));
  }

  RandomStream stream_;
};

}  // namespace

void RegisterParameterizedTruncatedNormalCpu(KernelRegistry& registry) {
  ForTypes<Half, float, double>([&]<typename T>() {
    registry.Add(KernelDef("ParameterizedTruncatedNormal")
                     .Type<T>("dtype")
                     .template Make<ParameterizedTruncatedNormalKernel<T>>());
  });
}

}  // namespace sextant
