#include "sextant/device/kernel_registry.h"
#include "sextant/ops/nn/row_softmax.h"
#include "sextant/ops/nn/widened.h"

namespace sextant {
namespace {

template <typename T>
void ShiftRows(const T* x, T* y, int64_t rows, int64_t width) {
  for (int64_t r = 0; r < rows; ++r, x += width, y += width) {
    const T max = RowMax(x, width);
    for (int64_t i = 0; i < width; ++i) y[i] = x[i] - max;
  }
}

template <typename T>
void SoftmaxRows(const T* x, T* y, int64_t rows, int64_t width) {
  ShiftRows(x, y, rows, width);
  ExpAll(y, y, rows * width);
  for (int64_t r = 0; r < rows; ++r, y += width) {
    const T inverse = T(1) / RowSum(y, width);
    for (int64_t i = 0; i < width; ++i) y[i] *= inverse;
  }
}

template <typename T>
void LogSoftmaxRows(const T* x, T* y, int64_t rows, int64_t width) {
  ShiftRows(x, y, rows, width);
  T exps[kSoftmaxBlock];
  for (int64_t r = 0; r < rows; ++r, y += width) {
    T sum = 0;
    for (int64_t i = 0; i < width; i += kSoftmaxBlock) {
      const int64_t count = std::min(kSoftmaxBlock, width - i);
      ExpAll(y + i, exps, count);
      sum += RowSum(exps, count);
    }
    const T log_sum = std::log(sum);
    for (int64_t i = 0; i < width; ++i) y[i] -= log_sum;
  }
}

// T is the type of the tensors; rows are computed in float or double.
template <typename T>
class SoftmaxKernel final : public Kernel {
 public:
  using Work = Arithmetic<T>;
  using RowsFunction = void (*)(const Work* x, Work* y, int64_t rows, int64_t width);
  explicit SoftmaxKernel(RowsFunction function) : function_(function) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& logits = ctx.input(0);
    if (logits.rank() < 1) {
      throw InvalidArgument("logits must have >= 1 dimension, got {}", logits.shape().ToString());
    }
    Tensor& out = ctx.AllocateOutput(0, logits.shape());
    if (logits.num_elements() == 0) return;
    const int64_t width = logits.dim(logits.rank() - 1), rows = logits.num_elements() / width;
    const WidenedInput<T> x(ctx, logits);
    WidenedOutput<T> y(ctx, out);
    const int64_t block = SoftmaxBlockRows(width), blocks = (rows + block - 1) / block;
    ctx.ParallelFor(blocks, kSoftmaxCost * static_cast<double>(block * width),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t r = begin * block; r < std::min(rows, end * block); r += block) {
                        const int64_t at = r * width;
                        function_(x.data() + at, y.data() + at, std::min(block, rows - r), width);
                      }
                    });
    y.Store();
  }

 private:
  const RowsFunction function_;
};

template <typename T>
void AddKernel(KernelRegistry& registry, const char* op,
               typename SoftmaxKernel<T>::RowsFunction function) {
  registry.Add(KernelDef(op).Type<T>("T").InPlace(0, 0).Make(
      [function](KernelInit&) { return std::make_unique<SoftmaxKernel<T>>(function); }));
}

}  // namespace

void RegisterSoftmaxCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16>([&]<typename T>() {
    AddKernel<T>(registry, "Softmax", SoftmaxRows<Arithmetic<T>>);
    AddKernel<T>(registry, "LogSoftmax", LogSoftmaxRows<Arithmetic<T>>);
  });
}

}  // namespace sextant
