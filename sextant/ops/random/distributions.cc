#include "sextant/ops/random/distributions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "sextant/base/error.h"

namespace sextant {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;
// Rough cost of a group in nanoseconds.
constexpr double kBlockCost = 12, kNormalCost = 60, kTruncatedCost = 80;
// Blocks that a group of truncated normals may use before it would meet the next group.
constexpr uint64_t kTruncatedBlocksPerElement = 64;

// Calls make(generator, T[group]) for every group of "out"; group g starts at block stride * g.
template <typename T, typename Make>
void FillGroups(KernelContext& ctx, const Philox& start, Tensor& out, int group, uint64_t stride,
                double cost, Make make) {
  T* data = out.data<T>();
  const int64_t total = out.num_elements();
  const int64_t whole = total / group;
  ctx.ParallelFor((total + group - 1) / group, cost, [&](int64_t begin, int64_t end) {
    Philox generator = start;
    generator.Skip(static_cast<uint64_t>(begin) * stride);
    for (int64_t g = begin; g < std::min(end, whole); ++g) {
      Philox mine = generator;
      make(mine, data + g * group);
      generator.Skip(stride);
    }
    if (end > whole) {
      T last[4];
      make(generator, last);
      std::copy_n(last, total - whole * group, data + whole * group);
    }
  });
}

template <typename T>
constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;

// One element from its words.
template <typename T>
T Uniform(const uint32_t* words) {
  if constexpr (std::is_same_v<T, double>) return UniformDouble(words[0], words[1]);
  if constexpr (std::is_same_v<T, float>) return UniformFloat(words[0]);
  if constexpr (std::is_same_v<T, Half>) return Half::FromBits(UniformHalfBits(words[0]));
  if constexpr (std::is_same_v<T, BFloat16>) {
    return BFloat16::FromBits(UniformBFloat16Bits(words[0]));
  }
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    return static_cast<T>(UniformBits64(words[0], words[1]));
  }
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4) return static_cast<T>(words[0]);
}

// Elements of one block each made by convert(words).
template <typename T, typename Convert>
void FillFromWords(KernelContext& ctx, const Philox& start, Tensor& out, Convert convert) {
  constexpr int words = 4 / kGroup<T>;
  FillGroups<T>(ctx, start, out, kGroup<T>, 1, kBlockCost, [&](Philox& generator, T* group) {
    const Philox::Block block = generator.Next();
    for (int i = 0; i < kGroup<T>; ++i) group[i] = convert(block.data() + words * i);
  });
}

// The float or double that computes T, and its normal numbers: a block gives kGroup of them.
template <typename T>
using DrawnAs = std::conditional_t<std::is_same_v<T, double>, double, float>;

void NormalBlock(const Philox::Block& block, float* out) {
  BoxMuller(block[0], block[1], out);
  BoxMuller(block[2], block[3], out + 2);
}
void NormalBlock(const Philox::Block& block, double* out) { BoxMuller(block, out); }

template <typename T>
void NormalGroup(Philox& generator, T* group) {
  DrawnAs<T> values[kGroup<T>];
  NormalBlock(generator.Next(), values);
  for (int i = 0; i < kGroup<T>; ++i) group[i] = T(values[i]);
}

template <typename T>
void TruncatedGroup(Philox& generator, T* group) {
  int filled = 0;
  while (true) {
    DrawnAs<T> values[kGroup<T>];
    NormalBlock(generator.Next(), values);
    for (const auto value : values) {
      if (std::abs(value) >= 2) continue;
      group[filled++] = T(value);
      if (filled == kGroup<T>) return;
    }
  }
}

template <typename F>
void ForReal(const Tensor& out, F&& f) {
  switch (out.dtype()) {
    case DType::kFloat:
      return f.template operator()<float>();
    case DType::kDouble:
      return f.template operator()<double>();
    case DType::kHalf:
      return f.template operator()<Half>();
    case DType::kBFloat16:
      return f.template operator()<BFloat16>();
    default:
      throw Unimplemented("no random {} numbers", DTypeName(out.dtype()));
  }
}

template <typename F>
void ForInteger(const Tensor& out, F&& f) {
  switch (out.dtype()) {
    case DType::kInt32:
      return f.template operator()<int32_t>();
    case DType::kInt64:
      return f.template operator()<int64_t>();
    case DType::kUInt32:
      return f.template operator()<uint32_t>();
    case DType::kUInt64:
      return f.template operator()<uint64_t>();
    default:
      throw Unimplemented("no random {} integers", DTypeName(out.dtype()));
  }
}

}  // namespace

// The scalar functions of the C library on purpose: vector versions round otherwise.
void BoxMuller(uint32_t x0, uint32_t x1, float* out) {
  const float u1 = std::max(UniformFloat(x0), 1e-7f);
  const auto angle = static_cast<float>(kTwoPi * static_cast<double>(UniformFloat(x1)));
  const float radius = std::sqrt(-2.0f * std::log(u1));
  float sine, cosine;
  sincosf(angle, &sine, &cosine);
  out[0] = sine * radius;
  out[1] = cosine * radius;
}

void BoxMuller(const Philox::Block& block, double* out) {
  const double u1 = std::max(UniformDouble(block[0], block[1]), 1e-7);
  const double angle = kTwoPi * UniformDouble(block[2], block[3]);
  const double radius = std::sqrt(-2.0 * std::log(u1));
  double sine, cosine;
  sincos(angle, &sine, &cosine);
  out[0] = sine * radius;
  out[1] = cosine * radius;
}

void FillUniform(KernelContext& ctx, const Philox& start, Tensor& out) {
  ForReal(out, [&]<typename T>() { FillFromWords<T>(ctx, start, out, Uniform<T>); });
}

void FillNormal(KernelContext& ctx, const Philox& start, Tensor& out) {
  ForReal(out, [&]<typename T>() {
    FillGroups<T>(ctx, start, out, kGroup<T>, 1, kNormalCost, NormalGroup<T>);
  });
}

void FillTruncatedNormal(KernelContext& ctx, const Philox& start, Tensor& out) {
  ForReal(out, [&]<typename T>() {
    FillGroups<T>(ctx, start, out, kGroup<T>, kGroup<T> * kTruncatedBlocksPerElement,
                  kTruncatedCost, TruncatedGroup<T>);
  });
}

void FillUniformInt(KernelContext& ctx, const Philox& start, const Tensor& low, const Tensor& high,
                    Tensor& out) {
  if (low.rank() != 0 || high.rank() != 0) {
    throw InvalidArgument("bounds must be scalars, got shapes {} and {}", low.shape().ToString(),
                          high.shape().ToString());
  }
  if (out.num_elements() == 0) return;
  ForInteger(out, [&]<typename T>() {
    const T lo = low.scalar<T>(), hi = high.scalar<T>();
    if (lo >= hi) throw InvalidArgument("need minval < maxval, got {} >= {}", lo, hi);
    using Bits = std::make_unsigned_t<T>;
    const Bits range = static_cast<Bits>(hi) - static_cast<Bits>(lo);
    FillFromWords<T>(ctx, start, out, [&](const uint32_t* words) {
      return static_cast<T>(static_cast<Bits>(lo) + Uniform<Bits>(words) % range);
    });
  });
}

void FillFullInt(KernelContext& ctx, const Philox& start, Tensor& out) {
  ForInteger(out, [&]<typename T>() { FillFromWords<T>(ctx, start, out, Uniform<T>); });
}

}  // namespace sextant
