#include <cmath>

#include "sextant/device/kernel_registry.h"

namespace sextant {
namespace {

bool InTop(const float* predictions, int64_t classes, int64_t target, int64_t k) {
  if (target < 0 || target >= classes || !std::isfinite(predictions[target])) return false;
  int64_t better = 0;
  for (int64_t c = 0; c < classes; ++c) {
    if (!std::isfinite(predictions[c])) return false;
    better += predictions[c] > predictions[target];
  }
  return better < k;
}

template <typename T>
class InTopKKernel final : public Kernel {
 public:
  explicit InTopKKernel(KernelInit& init)
      : k_(init.num_inputs() == 2 ? init.attr<int64_t>("k") : 0) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &predictions = ctx.input(0), &targets = ctx.input(1);
    Check(predictions.shape(), targets.shape());
    const int64_t k = ctx.num_inputs() == 2 ? k_ : ReadK(ctx.input(2));
    const int64_t classes = predictions.dim(1);
    const float* rows = predictions.data<float>();
    const T* target = targets.data<T>();
    bool* out = ctx.AllocateOutput(0, targets.shape()).template data<bool>();
    ctx.ParallelFor(targets.num_elements(), static_cast<double>(classes) + 2,
                    [&](int64_t begin, int64_t end) {
                      for (int64_t r = begin; r < end; ++r) {
                        out[r] = InTop(rows + r * classes, classes, target[r], k);
                      }
                    });
  }

 private:
  static int64_t ReadK(const Tensor& k) {
    if (k.rank() != 0) {
      throw InvalidArgument("k must be 0-D, got shape {}", k.shape().ToString());
    }
    return k.scalar<T>();
  }
  static void Check(const Shape& predictions, const Shape& targets) {
    if (predictions.rank() != 2) {
      throw InvalidArgument("predictions must be 2-dimensional, got {}", predictions.ToString());
    }
    if (targets.rank() != 1) {
      throw InvalidArgument("targets must be 1-dimensional, got {}", targets.ToString());
    }
    if (predictions[0] != targets[0]) {
      throw InvalidArgument("First dimension of predictions {} must match length of targets {}",
                            predictions[0], targets[0]);
    }
  }

  const int64_t k_;
};

}  // namespace

void RegisterInTopKCpu(KernelRegistry& registry) {
  ForTypes<int32_t, int64_t>([&]<typename T>() {
    for (const char* op : {"InTopK", "InTopKV2"}) {
      registry.Add(KernelDef(op).Type<T>("T").template Make<InTopKKernel<T>>());
    }
  });
}

}  // namespace sextant
