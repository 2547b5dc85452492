#include "sextant/ops/nn/lrn_loops.h"

#include <algorithm>
#include <cmath>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/nn/lrn_loops.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "sextant/ops/nn/channel_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

// One pixel after another. A row of values has zeros on both sides, so that sums over
// neighbourhoods are sums of shifted rows.
class Pixel {
 public:
  Pixel(const LrnPixels& p, float* scratch)
      : p_(p), norm_(scratch), factor_(scratch + p.depth), padded_(scratch + 2 * p.depth) {
    std::fill_n(padded_, p.depth + 2 * p.reach, 0.0f);
  }

  const float* norm() const { return norm_; }
  const float* factor() const { return factor_; }  // norm ^ -beta
  float* values() const { return padded_ + p_.reach; }

  template <typename D>
  HWY_INLINE hn::Vec<D> SumOfNeighbours(D d, int64_t channel) const {
    auto sum = hn::LoadU(d, padded_ + channel);
    for (int64_t k = 1; k <= 2 * p_.reach; ++k)
      sum = hn::Add(sum, hn::LoadU(d, padded_ + channel + k));
    return sum;
  }

  HWY_INLINE void Normalize(const float* x) const {
    ForChannels(p_.depth, [&](auto d, int64_t c) {
      const auto v = hn::LoadU(d, x + c);
      hn::StoreU(hn::Mul(v, v), d, values() + c);
    });
    const bool by_roots = p_.beta == 0.75f || p_.beta == 0.5f;
    ForChannels(p_.depth, [&](auto d, int64_t c) {
      const auto norm =
          hn::Add(hn::Set(d, p_.bias), hn::Mul(hn::Set(d, p_.alpha), SumOfNeighbours(d, c)));
      hn::StoreU(norm, d, norm_ + c);
      if (!by_roots) return;
      auto factor = hn::Div(hn::Set(d, 1.0f), hn::Sqrt(norm));
      if (p_.beta == 0.75f) factor = hn::Mul(factor, hn::Sqrt(factor));
      hn::StoreU(factor, d, factor_ + c);
    });
    if (by_roots) return;
    for (int64_t c = 0; c < p_.depth; ++c) factor_[c] = std::pow(norm_[c], -p_.beta);
  }

 private:
  const LrnPixels& p_;
  float *norm_, *factor_, *padded_;
};

void Forward(const LrnPixels& p, int64_t pixels, const float* x, float* y, float* scratch) {
  const Pixel pixel(p, scratch);
  for (int64_t i = 0; i < pixels; ++i, x += p.depth, y += p.depth) {
    pixel.Normalize(x);
    ForChannels(p.depth, [&](auto d, int64_t c) {
      hn::StoreU(hn::Mul(hn::LoadU(d, x + c), hn::LoadU(d, pixel.factor() + c)), d, y + c);
    });
  }
}

void Gradient(const LrnPixels& p, int64_t pixels, const float* dy, const float* x, const float* y,
              float* dx, float* scratch) {
  const Pixel pixel(p, scratch);
  for (int64_t i = 0; i < pixels; ++i) {
    pixel.Normalize(x);
    ForChannels(p.depth, [&](auto d, int64_t c) {
      const auto share = hn::Mul(hn::Set(d, -2 * p.alpha * p.beta), hn::LoadU(d, y + c));
      const auto of_norm = hn::Div(share, hn::LoadU(d, pixel.norm() + c));
      hn::StoreU(hn::Mul(of_norm, hn::LoadU(d, dy + c)), d, pixel.values() + c);
    });
    ForChannels(p.depth, [&](auto d, int64_t c) {
      const auto own = hn::Mul(hn::LoadU(d, dy + c), hn::LoadU(d, pixel.factor() + c));
      const auto others = hn::Mul(hn::LoadU(d, x + c), pixel.SumOfNeighbours(d, c));
      hn::StoreU(hn::Add(own, others), d, dx + c);
    });
    dy += p.depth;
    x += p.depth;
    y += p.depth;
    dx += p.depth;
  }
}

}  // namespace

LrnLoops GetLrnLoops() { return {Forward, Gradient}; }

}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {

HWY_EXPORT(GetLrnLoops);

const LrnLoops& BestLrnLoops() {
  static const LrnLoops loops = HWY_DYNAMIC_DISPATCH(GetLrnLoops)();
  return loops;
}

}  // namespace sextant
#endif
