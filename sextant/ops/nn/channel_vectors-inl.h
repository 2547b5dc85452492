// Loops over the channels of a pixel, in vectors. Included once per instruction set, hence the
// unusual guard.
#if defined(SEXTANT_OPS_NN_CHANNEL_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_OPS_NN_CHANNEL_VECTORS_INL_H_
#undef SEXTANT_OPS_NN_CHANNEL_VECTORS_INL_H_
#else
#define SEXTANT_OPS_NN_CHANNEL_VECTORS_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Calls body(d, channel) with vectors that together cover the channels.
template <typename F>
HWY_INLINE void ForChannels(int64_t count, const F& body) {
  const hn::CappedTag<float, 16> wide;
  const auto lanes = static_cast<int64_t>(hn::Lanes(wide));
  int64_t c = 0;
  for (; c + lanes <= count; c += lanes) body(wide, c);
  const hn::FixedTag<float, 1> one;
  for (; c < count; ++c) body(one, c);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#endif  // SEXTANT_OPS_NN_CHANNEL_VECTORS_INL_H_
