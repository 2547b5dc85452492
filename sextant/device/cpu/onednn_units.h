// Running a oneDNN primitive on units of a batch, one thread per unit.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "sextant/device/cpu/onednn.h"
#include "sextant/device/cpu/unit_split.h"
#include "sextant/device/kernel.h"

namespace sextant::onednn {

// A primitive with the memory objects that each thread hands to it, so that a run makes none.
class UnitPrimitive {
 public:
  using Args = std::vector<std::pair<int, dnnl::memory::desc>>;

  UnitPrimitive() = default;
  // "args" in the order in which Execute gets their data. REQUIRES: scratchpad_mode::user.
  UnitPrimitive(dnnl::primitive primitive, const Args& args, const dnnl::memory::desc& scratchpad,
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

// An attribute that leaves scratch memory to us.
dnnl::primitive_attr UserScratchpad();

}  // namespace sextant::onednn
