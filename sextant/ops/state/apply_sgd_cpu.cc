#include <complex>
#include <mutex>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/state/variable_access.h"

namespace sextant {
namespace {

// Arithmetic in T: 16-bit floats are computed in float and rounded after each operation.
template <typename T>
T Add(T a, T b) {
  return a + b;
}
template <typename T>
T Sub(T a, T b) {
  return a - b;
}
template <typename T>
T Mul(T a, T b) {
  return a * b;
}
template <typename T>
concept Float16 = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <Float16 T>
T Add(T a, T b) {
  return T(static_cast<float>(a) + static_cast<float>(b));
}
template <Float16 T>
T Sub(T a, T b) {
  return T(static_cast<float>(a) - static_cast<float>(b));
}
template <Float16 T>
T Mul(T a, T b) {
  return T(static_cast<float>(a) * static_cast<float>(b));
}

template <typename T>
T ScalarInput(KernelContext& ctx, int i, const char* name) {
  if (ctx.input(i).rank() != 0) {
    throw InvalidArgument("{} must be a scalar, got {}", name, ctx.input(i).Describe());
  }
  return ctx.input(i).scalar<T>();
}

void CheckSameShape(const VariableResource& variable, const Shape& shape, const Tensor& other,
                    const char* what) {
  if (shape == other.shape()) return;
  throw InvalidArgument("variable '{}' has shape {}, {} has {}", variable.name(), shape.ToString(),
                        what, other.shape().ToString());
}

template <typename T>
void GradientDescentKernel(KernelContext& ctx) {
  const T alpha = ScalarInput<T>(ctx, 1, "alpha");
  const Tensor& delta = ctx.input(2);
  VariableResource& variable = VariableAt(ctx, 0, DTypeOf<T>);
  std::lock_guard lock(variable.mutex());
  CheckSameShape(variable, variable.value().shape(), delta, "delta");
  T* __restrict var = variable.mutable_value(ctx.allocator()).template data<T>();
  const T* __restrict d = delta.data<T>();
  ctx.ParallelFor(delta.num_elements(), 0.5, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) var[i] = Sub(var[i], Mul(alpha, d[i]));
  });
}

struct Rule {
  bool keras;
  bool nesterov;
};

template <typename T>
struct MomentumStep {
  T lr, momentum;

  template <bool keras, bool nesterov>
  void Run(T* __restrict var, T* __restrict accum, const T* __restrict grad, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) {
      const T decayed = Mul(accum[i], momentum);
      if constexpr (keras) {
        const T move = Mul(grad[i], lr);
        accum[i] = Sub(decayed, move);
        var[i] = Add(var[i], nesterov ? Sub(Mul(accum[i], momentum), move) : accum[i]);
      } else {
        accum[i] = Add(decayed, grad[i]);
        var[i] = Sub(var[i], nesterov ? Add(Mul(grad[i], lr), Mul(Mul(accum[i], momentum), lr))
                                      : Mul(accum[i], lr));
      }
    }
  }
  void Run(Rule rule, T* var, T* accum, const T* grad, int64_t count) const {
    if (rule.keras) {
      rule.nesterov ? Run<true, true>(var, accum, grad, count)
                    : Run<true, false>(var, accum, grad, count);
    } else {
      rule.nesterov ? Run<false, true>(var, accum, grad, count)
                    : Run<false, false>(var, accum, grad, count);
    }
  }
};

// The values of a variable and its accumulator for changing in place, both locked.
class LockedPair {
 public:
  LockedPair(KernelContext& ctx, DType dtype)
      : var_(VariableAt(ctx, 0, dtype)), accum_(VariableAt(ctx, 1, dtype)) {
    if (&var_ == &accum_) {
      throw InvalidArgument("variable '{}' cannot be its own accumulator", var_.name());
    }
    std::lock(var_.mutex(), accum_.mutex());
    var_lock_ = std::unique_lock(var_.mutex(), std::adopt_lock);
    accum_lock_ = std::unique_lock(accum_.mutex(), std::adopt_lock);
    CheckSameShape(var_, shape(), accum_.value(), "its accumulator");
  }
  const VariableResource& variable() const { return var_; }
  const Shape& shape() const { return var_.value().shape(); }
  Tensor& var(KernelContext& ctx) { return var_.mutable_value(ctx.allocator()); }
  Tensor& accum(KernelContext& ctx) { return accum_.mutable_value(ctx.allocator()); }

 private:
  VariableResource &var_, &accum_;
  std::unique_lock<std::mutex> var_lock_, accum_lock_;
};

template <typename T, bool keras>
class MomentumKernel : public Kernel {
 public:
  explicit MomentumKernel(KernelInit& init) : rule_{keras, init.attr<bool>("use_nesterov")} {}

  void Compute(KernelContext& ctx) override {
    const MomentumStep<T> step{ScalarInput<T>(ctx, 2, "lr"), ScalarInput<T>(ctx, 4, "momentum")};
    const Tensor& grad = ctx.input(3);
    LockedPair pair(ctx, DTypeOf<T>);
    CheckSameShape(pair.variable(), pair.shape(), grad, "the gradient");
    T* var = pair.var(ctx).template data<T>();
    T* accum = pair.accum(ctx).template data<T>();
    const T* g = grad.data<T>();
    ctx.ParallelFor(grad.num_elements(), 1, [&](int64_t begin, int64_t end) {
      step.Run(rule_, var + begin, accum + begin, g + begin, end - begin);
    });
  }

 private:
  const Rule rule_;
};

template <typename T, bool keras>
class SparseMomentumKernel : public Kernel {
 public:
  explicit SparseMomentumKernel(KernelInit& init) : rule_{keras, init.attr<bool>("use_nesterov")} {}

  void Compute(KernelContext& ctx) override {
    const MomentumStep<T> step{ScalarInput<T>(ctx, 2, "lr"), ScalarInput<T>(ctx, 5, "momentum")};
    const Tensor &grad = ctx.input(3), &indices = ctx.input(4);
    CheckVector(indices, "indices");
    LockedPair pair(ctx, DTypeOf<T>);
    const Shape& shape = pair.shape();
    if (shape.rank() == 0) {
      throw InvalidArgument("variable '{}' is a scalar and has no rows", pair.variable().name());
    }
    Shape wanted = shape;
    wanted.set_dim(0, indices.num_elements());
    if (!(grad.shape() == wanted)) {
      throw InvalidArgument("the gradient has shape {}, {} indices into variable '{}' ask for {}",
                            grad.shape().ToString(), indices.num_elements(), pair.variable().name(),
                            wanted.ToString());
    }
    ReadIndices(indices, &indices_);
    for (size_t i = 0; i < indices_.size(); ++i) {
      if (indices_[i] < 0 || indices_[i] >= shape[0]) {
        throw InvalidArgument("indices[{}] = {} is not in [0, {})", i, indices_[i], shape[0]);
      }
    }
    const int64_t row = shape[0] == 0 ? 0 : shape.num_elements() / shape[0];
    T* var = pair.var(ctx).template data<T>();
    T* accum = pair.accum(ctx).template data<T>();
    const T* g = grad.data<T>();
    for (const int64_t index : indices_) {
      step.Run(rule_, var + index * row, accum + index * row, g, row);
      g += row;
    }
  }

 private:
  const Rule rule_;
  std::vector<int64_t> indices_;
};

}  // namespace

void RegisterApplySgdCpu(KernelRegistry& registry) {
  ForTypes<Half, BFloat16, float, double, std::complex<float>,
           std::complex<double>>([&]<typename T>() {
    registry.Add(
        KernelDef("ResourceApplyGradientDescent").Type<T>("T").Function(GradientDescentKernel<T>));
    registry.Add(
        KernelDef("ResourceApplyMomentum").Type<T>("T").template Make<MomentumKernel<T, false>>());
    registry.Add(KernelDef("ResourceApplyKerasMomentum")
                     .Type<T>("T")
                     .template Make<MomentumKernel<T, true>>());
    registry.Add(KernelDef("ResourceSparseApplyMomentum")
                     .Type<T>("T")
                     .template Make<SparseMomentumKernel<T, false>>());
    registry.Add(KernelDef("ResourceSparseApplyKerasMomentum")
                     .Type<T>("T")
                     .template Make<SparseMomentumKernel<T, true>>());
  });
}

}  // namespace sextant
