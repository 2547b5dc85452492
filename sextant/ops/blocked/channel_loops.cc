// Batch normalization over [pixel][lane], lanes being the channels of a block: every lane has a
// mean and a variance of its own, so nothing is summed across lanes, and all loops are vertical.
//
//   sums            s = sum of (x - shift), q = sum of (x - shift)^2
//   apply           y = a x + b (+ addend), Relu;   a = scale / sqrt(variance + epsilon),
//                                                   b = offset - a mean
//   gradient_sums   s = sum of g, d = sum of g (x - mean);  g = dy where the Relu let it through
//   gradient_apply  dx = a g + b (x - mean) + c;    b = -a d / (variance + epsilon) / n,
//                                                   c = -a s / n
//
// So training takes two passes over x forward, two over x and dy backward. Sums have four (two)
// accumulators in turn, because an addition has to wait four cycles for the last one. Variances are
// those of x - shift, a pixel of the first image: with q / n - (s / n)^2 of values around 1000 that
// vary by 1, five of a float's seven digits would cancel.
//
// Invariant: a plane of pixels is summed in an order that depends on its length alone; planes are
// added up in double in the order of the images (blocked_batch_norm_cpu.cc).
//
// S. Ioffe, C. Szegedy: Batch Normalization, ICML 2015, gives the gradients.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/blocked/channel_loops.cc"
#include "sextant/ops/blocked/channel_loops.h"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Calls body(d, lane) with vectors that together cover the lanes of a block.
template <typename F>
void ForLanes(int64_t block, const F& body) {
  const hn::ScalableTag<float> wide;
  const auto lanes = static_cast<int64_t>(hn::Lanes(wide));
  int64_t lane = 0;
  for (; lane + lanes <= block; lane += lanes) body(wide, lane);
  const hn::FixedTag<float, 1> one;
  for (; lane < block; ++lane) body(one, lane);
}

void Sums(const float* x, int64_t pixels, int64_t block, const float* shift, float* sum,
          float* squares) {
  ForLanes(block, [&](auto d, int64_t lane) {
    const auto centre = hn::LoadU(d, shift + lane);
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, q0 = s0, q1 = s0, q2 = s0, q3 = s0;
    const auto add = [&](const float* at, auto& s, auto& q) {
      const auto v = hn::Sub(hn::LoadU(d, at), centre);
      s = hn::Add(s, v);
      q = hn::MulAdd(v, v, q);
    };
    const float* at = x + lane;
    int64_t p = 0;
    for (; p + 4 <= pixels; p += 4, at += 4 * block) {
      add(at, s0, q0);
      add(at + block, s1, q1);
      add(at + 2 * block, s2, q2);
      add(at + 3 * block, s3, q3);
    }
    for (; p < pixels; ++p, at += block) add(at, s0, q0);
    hn::StoreU(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), d, sum + lane);
    hn::StoreU(hn::Add(hn::Add(q0, q1), hn::Add(q2, q3)), d, squares + lane);
  });
}

void Apply(const float* x, const float* addend, int64_t pixels, int64_t block, const float* a,
           const float* b, bool relu, float* y) {
  ForLanes(block, [&](auto d, int64_t lane) {
    const auto scale = hn::LoadU(d, a + lane), offset = hn::LoadU(d, b + lane);
    const auto zero = hn::Zero(d);
    for (int64_t i = lane; i < pixels * block; i += block) {
      auto v = hn::MulAdd(hn::LoadU(d, x + i), scale, offset);
      if (addend != nullptr) v = hn::Add(v, hn::LoadU(d, addend + i));
      if (relu) v = hn::IfThenElse(hn::Lt(v, zero), zero, v);
      hn::StoreU(v, d, y + i);
    }
  });
}

template <typename D>
hn::Vec<D> Active(D d, const float* dy, const float* active, int64_t i) {
  const auto g = hn::LoadU(d, dy + i);
  if (active == nullptr) return g;
  return hn::IfThenElseZero(hn::Gt(hn::LoadU(d, active + i), hn::Zero(d)), g);
}

void GradientSums(const float* dy, const float* active, const float* x, int64_t pixels,
                  int64_t block, const float* mean, float* sum, float* dot) {
  ForLanes(block, [&](auto d, int64_t lane) {
    const auto centre = hn::LoadU(d, mean + lane);
    auto s0 = hn::Zero(d), s1 = s0, q0 = s0, q1 = s0;
    const auto add = [&](int64_t i, auto& s, auto& q) {
      const auto g = Active(d, dy, active, i);
      s = hn::Add(s, g);
      q = hn::MulAdd(g, hn::Sub(hn::LoadU(d, x + i), centre), q);
    };
    int64_t p = 0;
    for (; p + 2 <= pixels; p += 2) {
      add(p * block + lane, s0, q0);
      add((p + 1) * block + lane, s1, q1);
    }
    if (p < pixels) add(p * block + lane, s0, q0);
    hn::StoreU(hn::Add(s0, s1), d, sum + lane);
    hn::StoreU(hn::Add(q0, q1), d, dot + lane);
  });
}

void GradientApply(const float* dy, const float* active, const float* x, int64_t pixels,
                   int64_t block, const float* mean, const float* a, const float* b, const float* c,
                   float* dx) {
  ForLanes(block, [&](auto d, int64_t lane) {
    const auto centre = hn::LoadU(d, mean + lane), va = hn::LoadU(d, a + lane);
    const auto vb = hn::LoadU(d, b + lane), vc = hn::LoadU(d, c + lane);
    for (int64_t i = lane; i < pixels * block; i += block) {
      const auto g = Active(d, dy, active, i);
      const auto v = hn::MulAdd(hn::Sub(hn::LoadU(d, x + i), centre), vb, vc);
      hn::StoreU(hn::MulAdd(g, va, v), d, dx + i);
    }
  });
}

}  // namespace

ChannelLoops GetChannelLoops() { return {Sums, Apply, GradientSums, GradientApply}; }

}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {

HWY_EXPORT(GetChannelLoops);

const ChannelLoops& BestChannelLoops() {
  static const ChannelLoops loops = HWY_DYNAMIC_DISPATCH(GetChannelLoops)();
  return loops;
}

}  // namespace sextant
#endif
