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

// Images whose contributions to a sum over the batch are added up by themselves first. A constant:
// sums must not depend on the number of threads.
constexpr int64_t kSumImages = 16;

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
