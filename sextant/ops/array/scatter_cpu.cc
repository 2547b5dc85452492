#include <algorithm>
#include <complex>
#include <string>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/nd_index.h"
#include "sextant/ops/array/strided_copy.h"

namespace sextant {
namespace {

template <typename T>
constexpr bool kSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// What becomes of an element and its update; 16-bit floats are computed in float.
struct AddTo {
  template <typename T>
  static T Of(const T& a, const T& b) {
    if constexpr (kSmallFloat<T>) {
      return T(float(a) + float(b));
    } else if constexpr (std::is_same_v<T, bool>) {
      return a || b;
    } else {
      return static_cast<T>(a + b);
    }
  }
};
struct SubtractFrom {
  template <typename T>
  static T Of(const T& a, const T& b) {
    if constexpr (kSmallFloat<T>) {
      return T(float(a) - float(b));
    } else {
      return static_cast<T>(a - b);
    }
  }
};
struct Larger {
  template <typename T>
  static T Of(const T& a, const T& b) {
    if constexpr (kSmallFloat<T>) {
      return float(a) < float(b) ? b : a;
    } else {
      return a < b ? b : a;
    }
  }
};
struct Smaller {
  template <typename T>
  static T Of(const T& a, const T& b) {
    if constexpr (kSmallFloat<T>) {
      return float(b) < float(a) ? b : a;
    } else {
      return b < a ? b : a;
    }
  }
};
struct ReplaceBy {
  template <typename T>
  static T Of(const T&, const T& b) {
    return b;
  }
};

// Columns of the slices are shared out, so that updates of one element keep their order.
template <typename Op, typename T>
void Scatter(KernelContext& ctx, const NdIndex& index, const T* updates, T* out) {
  const auto count = static_cast<int64_t>(index.rows.size());
  ctx.ParallelFor(index.slice, 1.0 * static_cast<double>(count), [&](int64_t begin, int64_t end) {
    for (int64_t k = 0; k < count; ++k) {
      T* const to = out + index.rows[k] * index.slice;
      const T* const from = updates + k * index.slice;
      for (int64_t i = begin; i < end; ++i) to[i] = Op::Of(to[i], from[i]);
    }
  });
}

class ScatterBase : public Kernel {
 protected:
  void ReadIndex(const Tensor& indices, const Tensor& updates, const Shape& target) {
    CheckScattered(indices.shape(), updates.shape(), target);
    index_.Set(indices, target, "shape");
    const int outer = indices.rank() - 1;
    bool fits = updates.rank() == outer + target.rank() - static_cast<int>(index_.depth);
    for (int d = 0; fits && d < updates.rank(); ++d) {
      const int64_t wanted =
          d < outer ? indices.dim(d) : target[d - outer + static_cast<int>(index_.depth)];
      fits = updates.dim(d) == wanted;
    }
    if (!fits) {
      throw InvalidArgument("updates of shape {} do not fit indices {} into shape {}",
                            updates.shape().ToString(), indices.shape().ToString(),
                            target.ToString());
    }
  }
  NdIndex index_;
};

template <typename T>
class ScatterNdKernel : public ScatterBase {
 public:
  explicit ScatterNdKernel(KernelInit&) {}
  void Compute(KernelContext& ctx) override {
    CheckVector(ctx.input(2), "shape");
    const Shape shape = ShapeFromTensor(ctx.input(2));
    ReadIndex(ctx.input(0), ctx.input(1), shape);
    Tensor& out = ctx.AllocateOutput(0, shape);
    ZeroElements(ctx, out);
    Scatter<AddTo>(ctx, index_, ctx.input(1).template data<T>(), out.template data<T>());
  }
};

class TensorScatterBase : public ScatterBase {
 protected:
  Tensor& CopyOfTensor(KernelContext& ctx) {
    const Tensor& tensor = ctx.input(0);
    ReadIndex(ctx.input(1), ctx.input(2), tensor.shape());
    Tensor& out = ctx.AllocateOutput(0, tensor.shape());
    if (out.raw_data() != tensor.raw_data()) {
      StridedCopy copy;
      copy.Add(tensor.num_elements(), 1, 1);
      copy.Run(ctx, out, 0, tensor, 0);
    }
    return out;
  }
  // The updates; a copy when they are the tensor itself, over which the output may be written.
  static Tensor Updates(KernelContext& ctx) {
    const Tensor &tensor = ctx.input(0), &updates = ctx.input(2);
    return updates.raw_data() == tensor.raw_data() ? updates.Clone(ctx.allocator()) : updates;
  }
};

template <typename Op, typename T>
class TensorScatterKernel : public TensorScatterBase {
 public:
  explicit TensorScatterKernel(KernelInit&) {}
  void Compute(KernelContext& ctx) override {
    const Tensor updates = Updates(ctx);
    Tensor& out = CopyOfTensor(ctx);
    Scatter<Op>(ctx, index_, updates.data<T>(), out.template data<T>());
  }
};

class TensorScatterUpdateKernel : public TensorScatterBase {
 public:
  explicit TensorScatterUpdateKernel(KernelInit&) {}
  void Compute(KernelContext& ctx) override {
    const Tensor updates = Updates(ctx);
    Tensor& out = CopyOfTensor(ctx);
    WithElement(out.dtype(), [&]<typename T>() {
      Scatter<ReplaceBy>(ctx, index_, static_cast<const T*>(updates.raw_data()),
                         static_cast<T*>(out.raw_data()));
    });
  }
};

template <typename Op, typename T>
void AddTensorScatter(KernelRegistry& registry, const char* op) {
  registry.Add(
      KernelDef(op).Type<T>("T").InPlace(0, 0).template Make<TensorScatterKernel<Op, T>>());
}

template <typename F>
void ForRealTypes(F&& f) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>(f);
}

}  // namespace

void RegisterScatterCpu(KernelRegistry& registry) {
  const auto add_sums = [&]<typename T>() {
    registry.Add(KernelDef("ScatterNd").Type<T>("T").template Make<ScatterNdKernel<T>>());
    AddTensorScatter<AddTo, T>(registry, "TensorScatterAdd");
    AddTensorScatter<AddTo, T>(registry, "ScatterNdNonAliasingAdd");
  };
  const auto add_differences = [&]<typename T>() {
    AddTensorScatter<SubtractFrom, T>(registry, "TensorScatterSub");
  };
  ForRealTypes(add_sums);
  ForTypes<std::complex<float>, std::complex<double>, bool, std::string>(add_sums);
  ForRealTypes(add_differences);
  ForTypes<std::complex<float>, std::complex<double>>(add_differences);
  ForRealTypes([&]<typename T>() {
    AddTensorScatter<Larger, T>(registry, "TensorScatterMax");
    AddTensorScatter<Smaller, T>(registry, "TensorScatterMin");
  });
  registry.Add(KernelDef("TensorScatterUpdate").InPlace(0, 0).Make<TensorScatterUpdateKernel>());
}

}  // namespace sextant
