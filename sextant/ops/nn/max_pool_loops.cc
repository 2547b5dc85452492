#include "sextant/ops/nn/max_pool_loops.h"

#include <limits>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/nn/max_pool_loops.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "sextant/ops/nn/channel_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

void Line(const PoolGeometry& g, int64_t h, int64_t count, const float* x, float* y) {
  const int64_t row_begin = g.height.begin(h), row_end = g.height.end(h);
  ForChannels(count, [&](auto d, int64_t channel) {
    for (int64_t w = 0; w < g.width.out; ++w) {
      const int64_t begin = g.width.begin(w), end = g.width.end(w);
      auto largest = hn::Set(d, std::numeric_limits<float>::lowest());
      for (int64_t row = row_begin; row < row_end; ++row) {
        const float* at = x + (row * g.width.in + begin) * g.channels + channel;
        for (int64_t column = begin; column < end; ++column, at += g.channels) {
          const auto v = hn::LoadU(d, at);
          largest = hn::IfThenElse(hn::Lt(largest, v), v, largest);
        }
      }
      hn::StoreU(largest, d, y + w * g.channels + channel);
    }
  });
}

void LineGradient(const PoolGeometry& g, int64_t h, int64_t count, const float* x, const float* dy,
                  float* dx) {
  const int64_t row_begin = g.height.begin(h), row_end = g.height.end(h);
  ForChannels(count, [&](auto d, int64_t channel) {
    const hn::RebindToSigned<decltype(d)> di;
    for (int64_t w = 0; w < g.width.out; ++w) {
      const int64_t begin = g.width.begin(w), end = g.width.end(w);
      if (row_begin >= row_end || begin >= end) continue;
      const int64_t start = (row_begin * g.width.in + begin) * g.channels + channel;
      auto largest = hn::LoadU(d, x + start);
      auto place = hn::Zero(di);  // counted along the window
      auto here = place;
      const auto one = hn::Set(di, 1);
      const auto each = [&](const auto& body) {
        here = hn::Zero(di);
        for (int64_t row = 0; row < row_end - row_begin; ++row) {
          int64_t i = start + row * g.width.in * g.channels;
          for (int64_t column = begin; column < end; ++column, i += g.channels) {
            body(i);
            here = hn::Add(here, one);
          }
        }
      };
      each([&](int64_t i) {
        const auto v = hn::LoadU(d, x + i);
        const auto better = hn::Lt(largest, v);
        largest = hn::IfThenElse(better, v, largest);
        place = hn::IfThenElse(hn::RebindMask(di, better), here, place);
      });
      const auto gradient = hn::LoadU(d, dy + w * g.channels + channel);
      each([&](int64_t i) {
        const auto chosen = hn::RebindMask(d, hn::Eq(place, here));
        const auto sum = hn::Add(hn::LoadU(d, dx + i), hn::IfThenElseZero(chosen, gradient));
        hn::StoreU(sum, d, dx + i);
      });
    }
  });
}

}  // namespace

MaxPoolLoops GetMaxPoolLoops() { return {Line, LineGradient}; }

}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {

HWY_EXPORT(GetMaxPoolLoops);

const MaxPoolLoops& BestMaxPoolLoops() {
  static const MaxPoolLoops loops = HWY_DYNAMIC_DISPATCH(GetMaxPoolLoops)();
  return loops;
}

}  // namespace sextant
#endif
