#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

class OneHotKernel : public Kernel {
 public:
  explicit OneHotKernel(KernelInit& init) : axis_(init.attr<int64_t>("axis")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& indices = ctx.input(0);
    for (int i = 1; i < 4; ++i) {
      if (ctx.input(i).rank() != 0) {
        throw InvalidArgument("{} must be a scalar, but got: {}", kNames[i],
                              ctx.input(i).shape().ToString());
      }
    }
    const int64_t depth = IndexAt(ctx.input(1), 0);
    if (depth < 0) throw InvalidArgument("depth must be non-negative, got: {}", depth);
    if (axis_ < -1 || axis_ > indices.rank()) {
      throw InvalidArgument("Expected axis to be -1 or between [0, {}], but got {}", indices.rank(),
                            axis_);
    }
    const int axis = axis_ < 0 ? indices.rank() : static_cast<int>(axis_);
    Shape shape = indices.shape();
    shape.Insert(axis, depth);
    int64_t inner = 1;
    for (int d = axis; d < indices.rank(); ++d) inner *= indices.dim(d);
    Tensor& out = ctx.AllocateOutput(0, shape);
    if (out.num_elements() == 0) return;
    ReadIndices(indices, &indices_);
    WithElement(out.dtype(), [&]<typename T>() {
      Write(ctx, static_cast<T*>(out.raw_data()), depth, inner,
            *static_cast<const T*>(ctx.input(2).raw_data()),
            *static_cast<const T*>(ctx.input(3).raw_data()));
    });
  }

 private:
  static constexpr const char* kNames[] = {"indices", "depth", "on_value", "off_value"};

  template <typename T>
  void Write(KernelContext& ctx, T* out, int64_t depth, int64_t inner, const T& on, const T& off) {
    const int64_t outer = static_cast<int64_t>(indices_.size()) / inner;
    const double cost = 0.2 * static_cast<double>(depth * inner) * sizeof(T);
    ctx.ParallelFor(outer, cost, [&](int64_t begin, int64_t end) {
      std::fill(out + begin * depth * inner, out + end * depth * inner, off);
      for (int64_t i = begin * inner; i < end * inner; ++i) {
        const int64_t index = indices_[i];
        if (index >= 0 && index < depth) out[(i / inner * depth + index) * inner + i % inner] = on;
      }
    });
  }

  const int64_t axis_;
  std::vector<int64_t> indices_;
};

}  // namespace

void RegisterOneHotCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("OneHot").Make<OneHotKernel>());
}

}  // namespace sextant
