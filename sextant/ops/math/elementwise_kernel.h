// Kernels that apply a loop to one tensor or to two with broadcasting, and how families register
// them.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/math/arithmetic_type.h"
#include "sextant/ops/math/elementwise_loops.h"

namespace sextant {

template <typename T>
decltype(auto) ToArithmetic(const T& value) {
  if constexpr (std::is_same_v<T, Arithmetic<T>>) {
    return (value);  // strings are not copied
  } else {
    return static_cast<Arithmetic<T>>(value);
  }
}

// Nanoseconds per element of plain loops that do arithmetic, or call a function of the mathematical
// library.
inline constexpr double kArithmeticCost = 1.0;
inline constexpr double kFunctionCost = 15.0;

// y[i] = f(x[i]).
class UnaryKernel final : public Kernel {
 public:
  UnaryKernel(UnaryLoop loop, DType in, DType out, double cost)
      : loop_(loop), in_size_(DTypeSize(in)), out_size_(DTypeSize(out)), cost_(cost) {}
  void Compute(KernelContext& ctx) override;

 private:
  UnaryLoop loop_;
  size_t in_size_, out_size_;
  double cost_;
};

// z[i] = f(x[i], y[i]), with broadcasting or only for equal shapes.
class BinaryKernel : public Kernel {
 public:
  BinaryKernel(BinaryLoop loop, DType in, DType out, double cost, bool broadcasts)
      : loop_(loop),
        in_size_(DTypeSize(in)),
        out_size_(DTypeSize(out)),
        cost_(cost),
        broadcasts_(broadcasts) {}
  void Compute(KernelContext& ctx) override;

 private:
  void Run(KernelContext& ctx, const Tensor& a, int64_t a_step, const Tensor& b, int64_t b_step,
           Tensor& out);

  BinaryLoop loop_;
  size_t in_size_, out_size_;
  double cost_;
  bool broadcasts_;
};

// Registers the kernel of "op" for one type of its attribute T; the logical ops have none. Which
// binary ops broadcast is a fact of the table (ElementwiseBroadcasts); ops not in it do. Kernels
// work in place where elements of inputs and output have one size.
void AddUnaryKernel(KernelRegistry& registry, const char* op, DType in, DType out, UnaryLoop loop,
                    double cost);
void AddBinaryKernel(KernelRegistry& registry, const char* op, DType in, DType out, BinaryLoop loop,
                     double cost);
// The float kernel with the loop of the table.
void AddFloatKernel(KernelRegistry& registry, const char* op);

// The loop of a function object without state.
template <typename T, typename Out, typename F>
UnaryLoop UnaryLoopOf(F) {
  return [](const void* x, void* y, int64_t count) {
    const T* in = static_cast<const T*>(x);
    Out* out = static_cast<Out*>(y);
    for (int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<Out>(F{}(ToArithmetic(in[i])));
    }
  };
}
template <typename T, typename Out, typename F>
BinaryLoop BinaryLoopOf(F) {
  return [](const void* a_data, int64_t a_step, const void* b_data, int64_t b_step, void* out_data,
            int64_t count) {
    const T* a = static_cast<const T*>(a_data);
    const T* b = static_cast<const T*>(b_data);
    Out* out = static_cast<Out*>(out_data);
    for (int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<Out>(F{}(ToArithmetic(a[i * a_step]), ToArithmetic(b[i * b_step])));
    }
  };
}

template <typename... Ts>
struct TypeList {};
// What float is computed beside: its own kernels come from the table.
using OtherFloats = TypeList<Half, BFloat16, double>;
using Floats = TypeList<Half, BFloat16, float, double>;
using SignedIntegers = TypeList<int8_t, int16_t, int32_t, int64_t>;
using Integers = TypeList<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
using Complexes = TypeList<std::complex<float>, std::complex<double>>;

// Registers the loops of f for each of Ts.
template <typename... Ts, typename F>
void AddUnary(KernelRegistry& registry, const char* op, TypeList<Ts...>, F f, double cost) {
  (AddUnaryKernel(registry, op, DTypeOf<Ts>, DTypeOf<Ts>, UnaryLoopOf<Ts, Ts>(f), cost), ...);
}
template <typename... Ts, typename F>
void AddBinary(KernelRegistry& registry, const char* op, TypeList<Ts...>, F f, double cost) {
  (AddBinaryKernel(registry, op, DTypeOf<Ts>, DTypeOf<Ts>, BinaryLoopOf<Ts, Ts>(f), cost), ...);
}
// The same with Out as the result's type.
template <typename Out, typename... Ts, typename F>
void AddUnaryTo(KernelRegistry& registry, const char* op, TypeList<Ts...>, F f) {
  (AddUnaryKernel(registry, op, DTypeOf<Ts>, DTypeOf<Out>, UnaryLoopOf<Ts, Out>(f),
                  kArithmeticCost),
   ...);
}

}  // namespace sextant
