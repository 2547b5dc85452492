// The frame of the float loops: applies a function of vectors to arrays. Included once per
// instruction set, hence the unusual guard.
#if defined(SEXTANT_OPS_MATH_ELEMENTWISE_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_OPS_MATH_ELEMENTWISE_SIMD_INL_H_
#undef SEXTANT_OPS_MATH_ELEMENTWISE_SIMD_INL_H_
#else
#define SEXTANT_OPS_MATH_ELEMENTWISE_SIMD_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;

inline V Splat(float value) { return hn::Set(D(), value); }
inline M IsNan(V x) { return hn::IsNaN(x); }

// The last elements go through a whole vector too, so that they get the same bits as the others.
inline V LoadTail(const float* from, int64_t count) {
  HWY_ALIGN float buffer[hn::MaxLanes(D())] = {};
  for (int64_t i = 0; i < count; ++i) buffer[i] = from[i];
  return hn::Load(D(), buffer);
}
inline void StoreTail(V value, float* to, int64_t count) {
  HWY_ALIGN float buffer[hn::MaxLanes(D())];
  hn::Store(value, D(), buffer);
  for (int64_t i = 0; i < count; ++i) to[i] = buffer[i];
}

template <V (*f)(V)>
void Unary(const void* x_data, void* y_data, int64_t count) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* x = static_cast<const float*>(x_data);
  float* y = static_cast<float*>(y_data);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i)), d, y + i);
  if (i < count) StoreTail(f(LoadTail(x + i, count - i)), y + i, count - i);
}

template <V (*f)(V, V)>
void Binary(const void* a_data, int64_t a_step, const void* b_data, int64_t b_step, void* out_data,
            int64_t count) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* a = static_cast<const float*>(a_data);
  const float* b = static_cast<const float*>(b_data);
  float* out = static_cast<float*>(out_data);
  if (count <= 0) return;
  const V a0 = Splat(a[0]), b0 = Splat(b[0]);
  const int64_t whole = count / lanes * lanes, rest = count - whole;
  if (a_step != 0 && b_step != 0) {
    for (int64_t i = 0; i < whole; i += lanes) {
      hn::StoreU(f(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
    }
  } else if (a_step != 0) {
    for (int64_t i = 0; i < whole; i += lanes) hn::StoreU(f(hn::LoadU(d, a + i), b0), d, out + i);
  } else {
    for (int64_t i = 0; i < whole; i += lanes) {
      hn::StoreU(f(a0, b_step != 0 ? hn::LoadU(d, b + i) : b0), d, out + i);
    }
  }
  if (rest > 0) {
    const V a_tail = a_step != 0 ? LoadTail(a + whole, rest) : a0;
    const V b_tail = b_step != 0 ? LoadTail(b + whole, rest) : b0;
    StoreTail(f(a_tail, b_tail), out + whole, rest);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#endif  // SEXTANT_OPS_MATH_ELEMENTWISE_SIMD_INL_H_
