// What the kernels of the pooling families share: reading the window from attributes or inputs.
#pragma once

#include <memory>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/nn/pool_geometry.h"

namespace sextant {

// Reads the window from the attributes, or at each run from the inputs "ksize" and "strides".
class PoolKernel : public Kernel {
 protected:
  // window_input: index of the input "ksize", which "strides" follows, in ops that have them.
  PoolKernel(KernelInit& init, int rank, int window_input = -1)
      : rank_(rank), window_input_(window_input), window_(PoolWindow::OfNode(init.node(), rank)) {}

  PoolGeometry Geometry(KernelContext& ctx, const Shape& input) {
    if (window_.ksize.empty() || window_from_inputs_) ReadWindow(ctx);
    return PoolGeometry(input, rank_, window_);
  }
  const PoolWindow& window() const { return window_; }
  int rank() const { return rank_; }
  // Pooling across channels, which only the largest element is defined for.
  void RefuseChannelWindow(const char* op) const {
    const int channel = window_.format.channel(rank_);
    if (window_.ksize[channel] == 1 && window_.strides[channel] == 1) return;
    throw Unimplemented("{} is not yet supported on the depth dimension.", op);
  }

 private:
  void ReadWindow(KernelContext& ctx) {
    window_from_inputs_ = true;
    window_.ksize = ctx.input(window_input_).AsInt64s();
    window_.strides = ctx.input(window_input_ + 1).AsInt64s();
    window_.Check(rank_);
  }

  const int rank_, window_input_;
  PoolWindow window_;
  bool window_from_inputs_ = false;
};

// Makes kernels for images (rank 4) or volumes (rank 5).
template <typename K>
KernelDef::Factory MakeOfRank(int rank) {
  return [rank](KernelInit& init) { return std::make_unique<K>(init, rank); };
}

// Kernels of the three groups of ops.
void RegisterMaxPoolCpu(KernelRegistry& registry);
void RegisterArgmaxPoolCpu(KernelRegistry& registry);
void RegisterAvgPoolCpu(KernelRegistry& registry);

}  // namespace sextant
