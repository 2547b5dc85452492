#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/strided_copy.h"

namespace sextant {
namespace {

uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 29);
}

// Equality and a hash that fits it, by the element's type: 0 = -0, NaN differs from all.
template <typename T>
struct Key {
  static bool Same(const T& a, const T& b) { return a == b; }
  static uint64_t Hash(const T& x) {
    if constexpr (std::is_same_v<T, std::string>) {
      return std::hash<std::string>()(x);
    } else if constexpr (std::is_same_v<T, float>) {
      return Mix(std::bit_cast<uint32_t>(x + 0.0f));
    } else if constexpr (std::is_same_v<T, double>) {
      return Mix(std::bit_cast<uint64_t>(x + 0.0));
    } else {
      return Mix(static_cast<uint64_t>(x));
    }
  }
};
template <typename T>
struct SmallFloatKey {
  static bool Same(const T& a, const T& b) { return float(a) == float(b); }
  static uint64_t Hash(const T& x) { return Key<float>::Hash(float(x)); }
};
template <>
struct Key<Half> : SmallFloatKey<Half> {};
template <>
struct Key<BFloat16> : SmallFloatKey<BFloat16> {};

// A set of positions. Keeps its memory from call to call.
class PositionTable {
 public:
  void Reset(int64_t capacity) {
    slots_.assign(std::bit_ceil(static_cast<uint64_t>(2 * capacity + 2)), -1);
  }
  // The slot that holds a position for which same(position) is true, or the empty one where it
  // goes.
  template <typename Same>
  int64_t& Find(uint64_t hash, Same&& same) {
    const uint64_t mask = slots_.size() - 1;
    uint64_t slot = hash & mask;
    while (slots_[slot] >= 0 && !same(slots_[slot])) slot = (slot + 1) & mask;
    return slots_[slot];
  }

 private:
  std::vector<int64_t> slots_;
};

// x seen as [outer, length, inner]; slices along the middle are compared.
template <typename T>
class UniqueKernel : public Kernel {
 public:
  explicit UniqueKernel(KernelInit& init) : has_axis_(init.num_inputs() == 2) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const int axis = Axis(ctx);
    const int64_t length = input.dim(axis);
    int64_t outer = 1, inner = 1;
    for (int d = 0; d < axis; ++d) outer *= input.dim(d);
    for (int d = axis + 1; d < input.rank(); ++d) inner *= input.dim(d);
    const T* const x = input.data<T>();
    const auto element = [&](int64_t o, int64_t position, int64_t i) -> const T& {
      return x[(o * length + position) * inner + i];
    };
    Tensor& index = ctx.AllocateOutput(1, Shape{length});
    firsts_.clear();
    counts_.clear();
    if (outer * inner != 1 || !NumberClose(x, length, index)) {
      NumberSlices(length, outer, inner, element, index);
    }
    WriteSlices(ctx, axis, outer, length, inner);
    if (ctx.num_outputs() == 3) {
      Tensor& counts = ctx.AllocateOutput(2, Shape{static_cast<int64_t>(counts_.size())});
      for (size_t k = 0; k < counts_.size(); ++k) SetIndexAt(counts, k, counts_[k]);
    }
  }

 private:
  // The number of the slice found, which is a new one when "found" is negative.
  template <typename I>
  int64_t Number(I& found, int64_t position) {
    if (found < 0) {
      found = static_cast<I>(firsts_.size());
      firsts_.push_back(position);
      counts_.push_back(0);
    }
    ++counts_[found];
    return found;
  }

  // Numbers integers that lie close together, in a table addressed by the value. Returns false when
  // they do not.
  bool NumberClose(const T* x, int64_t length, Tensor& index) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (length == 0 || length > std::numeric_limits<int32_t>::max()) return false;
      T least = x[0], most = x[0];
      for (int64_t i = 1; i < length; ++i) {
        least = std::min(least, x[i]);
        most = std::max(most, x[i]);
      }
      const uint64_t range = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
      if (range >= static_cast<uint64_t>(8 * length + 1024)) return false;
      numbers_.assign(range + 1, -1);
      for (int64_t i = 0; i < length; ++i) {
        const uint64_t at = static_cast<uint64_t>(x[i]) - static_cast<uint64_t>(least);
        SetIndexAt(index, i, Number(numbers_[at], i));
      }
      return true;
    } else {
      return false;
    }
  }

  template <typename F>
  void NumberSlices(int64_t length, int64_t outer, int64_t inner, const F& element, Tensor& index) {
    table_.Reset(length);
    for (int64_t position = 0; position < length; ++position) {
      uint64_t hash = 0;
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t i = 0; i < inner; ++i) {
          hash = hash * 0x9e3779b97f4a7c15u + Key<T>::Hash(element(o, position, i));
        }
      }
      int64_t& found = table_.Find(Mix(hash), [&](int64_t k) {
        for (int64_t o = 0; o < outer; ++o) {
          for (int64_t i = 0; i < inner; ++i) {
            if (!Key<T>::Same(element(o, firsts_[k], i), element(o, position, i))) return false;
          }
        }
        return true;
      });
      SetIndexAt(index, position, Number(found, position));
    }
  }

  int Axis(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    if (!has_axis_ || ctx.input(1).num_elements() == 0) {
      if (input.rank() != 1) {
        throw InvalidArgument("unique expects a 1D vector, got shape {}", input.shape().ToString());
      }
      return 0;
    }
    CheckVector(ctx.input(1), "axis");
    return AxisOf(ctx.input(1), input.rank(), ScalarForm::kLegacy);
  }

  void WriteSlices(KernelContext& ctx, int axis, int64_t outer, int64_t length, int64_t inner) {
    const auto count = static_cast<int64_t>(firsts_.size());
    Shape shape = ctx.input(0).shape();
    shape.set_dim(axis, count);
    const T* const x = ctx.input(0).data<T>();
    T* y = ctx.AllocateOutput(0, shape).template data<T>();
    if (outer * inner == 1) {
      for (int64_t first : firsts_) *y++ = x[first];
      return;
    }
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t first : firsts_) y = std::copy_n(x + (o * length + first) * inner, inner, y);
    }
  }

  const bool has_axis_;
  PositionTable table_;
  std::vector<int32_t> numbers_;
  std::vector<int64_t> firsts_, counts_;  // per distinct slice
};

template <typename T>
class ListDiffKernel : public Kernel {
 public:
  explicit ListDiffKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    CheckVector(ctx.input(0), "x");
    CheckVector(ctx.input(1), "y");
    const auto x = ctx.input(0).flat<T>(), y = ctx.input(1).flat<T>();
    table_.Reset(static_cast<int64_t>(y.size()));
    const auto find = [&](const T& value) -> int64_t& {
      return table_.Find(Key<T>::Hash(value), [&](int64_t k) { return Key<T>::Same(y[k], value); });
    };
    for (size_t k = 0; k < y.size(); ++k) find(y[k]) = static_cast<int64_t>(k);
    kept_.clear();
    for (size_t i = 0; i < x.size(); ++i) {
      if (find(x[i]) < 0) kept_.push_back(static_cast<int64_t>(i));
    }
    const Shape shape{static_cast<int64_t>(kept_.size())};
    T* const out = ctx.AllocateOutput(0, shape).template data<T>();
    Tensor& index = ctx.AllocateOutput(1, shape);
    for (size_t k = 0; k < kept_.size(); ++k) {
      out[k] = x[kept_[k]];
      SetIndexAt(index, k, kept_[k]);
    }
  }

 private:
  PositionTable table_;
  std::vector<int64_t> kept_;
};

}  // namespace

void RegisterUniqueCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t, bool, std::string>([&]<typename T>() {
    for (const char* op : {"Unique", "UniqueWithCounts", "UniqueV2", "UniqueWithCountsV2"}) {
      registry.Add(KernelDef(op).Type<T>("T").template Make<UniqueKernel<T>>());
    }
    registry.Add(KernelDef("ListDiff").Type<T>("T").template Make<ListDiffKernel<T>>());
  });
}

}  // namespace sextant
