#include <algorithm>
#include <numeric>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/random/distributions.h"
#include "sextant/ops/random/random_stream.h"

namespace sextant {
namespace {

using Fill = void (*)(KernelContext&, const Philox&, Tensor&);

class RandomFillKernel : public Kernel {
 public:
  RandomFillKernel(KernelInit& init, Fill fill) : stream_(init), fill_(fill) {}

  void Compute(KernelContext& ctx) override {
    CheckVector(ctx.input(0), "shape");
    Tensor& out = ctx.AllocateOutput(0, ShapeFromTensor(ctx.input(0)));
    if (out.num_elements() == 0) return;
    const auto blocks = static_cast<uint64_t>(out.num_elements()) * kBlocksPerElement;
    fill_(ctx, stream_.Reserve(ctx, blocks), out);
  }

 private:
  RandomStream stream_;
  const Fill fill_;
};

class RandomUniformIntKernel : public Kernel {
 public:
  explicit RandomUniformIntKernel(KernelInit& init) : stream_(init) {}

  void Compute(KernelContext& ctx) override {
    CheckVector(ctx.input(0), "shape");
    Tensor& out = ctx.AllocateOutput(0, ShapeFromTensor(ctx.input(0)));
    const auto blocks = static_cast<uint64_t>(out.num_elements()) * kBlocksPerElement;
    FillUniformInt(ctx, stream_.Reserve(ctx, blocks), ctx.input(1), ctx.input(2), out);
  }

 private:
  RandomStream stream_;
};

class RandomShuffleKernel : public Kernel {
 public:
  explicit RandomShuffleKernel(KernelInit& init) : stream_(init) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& value = ctx.input(0);
    const int64_t rows = value.rank() == 0 ? 1 : value.dim(0);
    if (rows <= 1 || value.num_elements() <= 1) return ctx.ForwardInput(0, 0);
    Permute(stream_.Reserve(ctx, static_cast<uint64_t>(rows - 1 + 3) / 4), rows);
    Tensor& out = ctx.AllocateOutput(0, value.shape());
    WithElement(value.dtype(), [&]<typename T>() {
      const auto* src = static_cast<const T*>(value.raw_data());
      auto* dst = static_cast<T*>(out.raw_data());
      const int64_t row = value.num_elements() / rows;
      for (int64_t i = 0; i < rows; ++i) std::copy_n(src + order_[i] * row, row, dst + i * row);
    });
  }

 private:
  // Fisher-Yates from the front.
  void Permute(Philox generator, int64_t rows) {
    order_.resize(static_cast<size_t>(rows));
    std::iota(order_.begin(), order_.end(), 0);
    Philox::Block block;
    for (int64_t i = 0; i < rows - 1; ++i) {
      if (i % 4 == 0) block = generator.Next();
      std::swap(order_[i], order_[i + block[i % 4] % static_cast<uint32_t>(rows - i)]);
    }
  }

  RandomStream stream_;
  std::vector<int64_t> order_;
};

}  // namespace

void RegisterRandomCpu(KernelRegistry& registry) {
  const auto fill = [&](const char* op, Fill function) {
    registry.Add(KernelDef(op).Make([function](KernelInit& init) {
      return std::make_unique<RandomFillKernel>(init, function);
    }));
  };
  fill("RandomUniform", FillUniform);
  fill("RandomStandardNormal", FillNormal);
  fill("TruncatedNormal", FillTruncatedNormal);
  registry.Add(KernelDef("RandomUniformInt").Make<RandomUniformIntKernel>());
  registry.Add(KernelDef("RandomShuffle").Make<RandomShuffleKernel>());
}

}  // namespace sextant
