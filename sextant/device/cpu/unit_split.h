// Cutting a batch of images into units of work, of which each thread takes the next that is free.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "sextant/device/kernel.h"

namespace sextant::onednn {

// How a batch is cut: whole units of "size" images, then a smaller one.
struct UnitSplit {
  int64_t batch = 0, size = 1;
  // Units of some hundred microseconds at "image_cost" nanoseconds each, but enough to occupy all
  // threads.
  static UnitSplit For(int64_t batch, double image_cost, int threads);
  int64_t count() const { return (batch + size - 1) / size; }
  int64_t images(int64_t unit) const { return std::min(size, batch - unit * size); }
};

// How a batch is cut where every unit makes a sum of its own: about 16 images each, in equal parts.
// Does not depend on the number of threads, as sums must not.
inline UnitSplit SplitForSums(int64_t batch) {
  int64_t units = (batch + 15) / 16;
  if (units > 1) units += units % 2;
  return {.batch = batch,
          .size = std::max<int64_t>(1, (batch + units - 1) / std::max<int64_t>(1, units))};
}

// Calls body(thread, unit) for every unit, each thread taking the next that is free.
template <typename F>
void ForEachUnit(KernelContext& ctx, int64_t units, double unit_cost, const F& body) {
  if (units == 1) return body(0, int64_t{0});
  std::atomic<int64_t> next{0};
  ctx.ParallelFor(ctx.threads(), unit_cost * static_cast<double>(units) / ctx.threads(),
                  [&](int64_t begin, int64_t) {
                    for (int64_t unit;
                         (unit = next.fetch_add(1, std::memory_order_relaxed)) < units;) {
                      body(static_cast<int>(begin), unit);
                    }
                  });
}

}  // namespace sextant::onednn
