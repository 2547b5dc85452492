#include <algorithm>

#include "sextant/ops/control_flow/tensor_list_value.h"
#include "sextant/ops/math/elementwise_kernel.h"
#include "sextant/ops/math/wrapping.h"

namespace sextant {
namespace {

class AddNKernel final : public Kernel {
 public:
  AddNKernel(BinaryLoop add, DType type)
      : add_(add), size_(static_cast<int64_t>(DTypeSize(type))) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& first = ctx.input(0);
    const int count = ctx.num_inputs();
    for (int k = 1; k < count; ++k) {
      if (ctx.input(k).shape() == first.shape()) continue;
      throw InvalidArgument(
          "Inputs to operation AddN must have the same size and shape. Input 0: {} != input {}: {}",
          first.shape().ToString(), k, ctx.input(k).shape().ToString());
    }
    Tensor& out = ctx.AllocateOutput(0, first.shape());
    ctx.ParallelFor(first.num_elements(), 0.5 * count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i += kChunk)
        AddChunk(ctx, i, std::min(kChunk, end - i), out);
    });
  }

 private:
  static constexpr int64_t kChunk = 256;

  // Sums up beside the output, which may be the buffer of an input that occurs again later.
  void AddChunk(KernelContext& ctx, int64_t begin, int64_t length, Tensor& out) const {
    const auto at = [&](int k) {
      return static_cast<const char*>(ctx.input(k).raw_data()) + begin * size_;
    };
    char* to = static_cast<char*>(out.raw_data()) + begin * size_;
    const int count = ctx.num_inputs();
    if (count == 1) {
      std::copy_n(at(0), length * size_, to);
      return;
    }
    alignas(64) char sum[kChunk * 16];
    const char* so_far = at(0);
    for (int k = 1; k < count - 1; ++k) {
      add_(so_far, 1, at(k), 1, sum, length);
      so_far = sum;
    }
    add_(so_far, 1, at(count - 1), 1, to, length);
  }

  const BinaryLoop add_;
  const int64_t size_;
};

void AddKernels(KernelRegistry& registry, DType type, BinaryLoop add) {
  for (const char* op : {"AddN", "AccumulateNV2"}) {
    registry.Add(KernelDef(op).Types("T", {type}).InPlace(0, 0).Make([=](KernelInit&) {
      return std::make_unique<AddNKernel>(add, type);
    }));
  }
}

// Lists of tensors, element by element.
void AddLists(KernelContext& ctx) {
  Tensor sum = ctx.TakeInput(0);
  for (int k = 1; k < ctx.num_inputs(); ++k) AddToVariants(sum, ctx.input(k));
  ctx.SetOutput(0, std::move(sum));
}

void AddNVariants(KernelContext& ctx) {
  Tensor sum = ctx.input(0);
  for (int k = 1; k < ctx.num_inputs(); ++k) sum = AddVariants(sum, ctx.input(k));
  ctx.SetOutput(0, sum);
}

}  // namespace

void RegisterAddNCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("AddN").Type<Variant>("T").OwnOutputs().Function(AddNVariants));
  AddKernels(registry, DType::kFloat, FloatBinaryLoop(ElementwiseOp::kAdd));
  ForTypes<Half, BFloat16, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
           uint64_t, std::complex<float>, std::complex<double>>([&]<typename T>() {
    AddKernels(registry, DTypeOf<T>,
               BinaryLoopOf<T, T>([](auto x, auto y) { return Wrapping::Add(x, y); }));
  });
  registry.Add(KernelDef("AddN").Type<Variant>("T").OwnOutputs().Function(AddLists));
}

}  // namespace sextant
