// Tensors seen as float or double: those of 16-bit floats through a temporary copy, others as they
// are. So that kernels need no code of their own for the 16-bit types.
#pragma once

#include <type_traits>

#include "sextant/device/kernel.h"
#include "sextant/ops/math/elementwise_kernel.h"

namespace sextant {

template <typename T>
class WidenedInput {
 public:
  using Work = Arithmetic<T>;
  WidenedInput(KernelContext& ctx, const Tensor& tensor) {
    if constexpr (std::is_same_v<T, Work>) {
      data_ = tensor.data<T>();
    } else {
      copy_ = ctx.AllocateTemp(DType::kFloat, tensor.shape());
      const T* from = tensor.data<T>();
      float* to = copy_.data<float>();
      for (int64_t i = 0; i < tensor.num_elements(); ++i) to[i] = static_cast<float>(from[i]);
      data_ = to;
    }
  }
  const Work* data() const { return data_; }

 private:
  Tensor copy_;
  const Work* data_;
};

// data() is not initialised; Store() writes it to the tensor.
template <typename T>
class WidenedOutput {
 public:
  using Work = Arithmetic<T>;
  WidenedOutput(KernelContext& ctx, Tensor& tensor) : tensor_(tensor) {
    if constexpr (std::is_same_v<T, Work>) {
      data_ = tensor.data<T>();
    } else {
      copy_ = ctx.AllocateTemp(DType::kFloat, tensor.shape());
      data_ = copy_.data<float>();
    }
  }
  Work* data() const { return data_; }
  void Store() {
    if constexpr (!std::is_same_v<T, Work>) {
      T* to = tensor_.data<T>();
      for (int64_t i = 0; i < tensor_.num_elements(); ++i) to[i] = T(data_[i]);
    }
  }

 private:
  Tensor& tensor_;
  Tensor copy_;
  Work* data_;
};

}  // namespace sextant
