// Running a oneDNN primitive on units of a batch, one thread per unit.
#pragma once

#include <atomic>
#include <initializer_list>
#include <utility>
#include <vector>

#include "sextant/device/cpu/onednn.h"
#include "sextant/device/kernel.h"

namespace sextant::onednn {

// How a batch is cut: whole units of "size" images, then a smaller one.
struct UnitSplit {
  int64_t batch = 0, size = 1;
  // Units of about "cost" nanoseconds at "image_cost" each, but enough to occupy all threads.
  static UnitSplit For(int64_t batch, double image_cost, int threads);
  int64_t count() const { return (batch + size - 1) / size; }
  int64_t images(int64_t unit) const { return std::min(size, batch - unit * size); }
};

// A primitive with the memory objects that each thread hands to it, so that a run makes none.
class UnitPrimitive {
 public:
  using Args = std::vector<std::pair<int, dnnl::memory::desc>>;

  UnitPrimitive() = default;
  // "args" in the order in which Execute gets their data. REQUIRES: scratchpad_mode::user.
  UnitPrimitive(dnnl::primitive primitive, Args args, const dnnl::memory::desc& scratchpad,
                int threads);
  void Execute(int thread, std::initializer_list<const void*> data);

 private:
  struct PerThread {
    std::vector<dnnl::memory> memories;
    std::vector<dnnl_exec_arg_t> args;
  };
  dnnl::primitive primitive_;
  size_t scratchpad_bytes_ = 0;  // of the thread's own memory
  std::vector<PerThread> threads_;
};

// Primitives for the two sizes of unit.
class UnitPrimitives {
 public:
  template <typename F>
  UnitPrimitives(const UnitSplit& split, const F& make) {
    whole_ = make(std::min(split.size, split.batch));
    const int64_t rest = split.batch % split.size;
    if (rest != 0 && split.batch > split.size) last_ = make(rest);
    has_last_ = rest != 0 && split.batch > split.size;
  }
  UnitPrimitive& For(const UnitSplit& split, int64_t unit) {
    return has_last_ && unit == split.count() - 1 ? last_ : whole_;
  }

 private:
  UnitPrimitive whole_, last_;
  bool has_last_ = false;
};

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

// An attribute that leaves scratch memory to us.
dnnl::primitive_attr UserScratchpad();

}  // namespace sextant::onednn
