// MaxPool, its gradient and the gradient of that, on images and volumes.
#include <limits>
#include <vector>

#include "sextant/ops/nn/max_pool_loops.h"
#include "sextant/ops/nn/pool_argmax.h"
#include "sextant/ops/nn/pool_kernel.h"

namespace sextant {
namespace {

template <typename T>
T Lowest() {
  if constexpr (std::is_same_v<T, Half>) {
    return Half(-65504.0f);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return BFloat16::FromBits(0xff7f);
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

// Types of which there are kernels for volumes.
template <typename T>
inline constexpr bool kPoolsVolumes = std::is_same_v<Arithmetic<T>, float>;

// Images ignore NaN and anything below the lowest finite number, as TensorFlow's kernel does;
// volumes keep them.
template <typename T>
class MaxPoolKernel final : public PoolKernel {
 public:
  MaxPoolKernel(KernelInit& init, int rank) : PoolKernel(init, rank, 1) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const PoolGeometry g = Geometry(ctx, input.shape());
    const T* x = input.data<T>();
    T* y = ctx.AllocateOutput(0, g.output).template data<T>();
    const int64_t channels = g.channels, image = g.in_pixels() * channels;
    const int64_t image_rows = g.depth.out * g.height.out;
    const double cost = 0.4 * static_cast<double>(g.window_pixels() * g.width.out * channels);
    ctx.ParallelFor(g.batch * image_rows, cost + 10.0, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* from = x + row / image_rows * image;
        if constexpr (std::is_same_v<T, float>) {
          if (rank() == 4) {
            BestMaxPoolLoops().line(g, row % image_rows, channels, from,
                                    y + row * g.width.out * channels);
            continue;
          }
        }
        ForWindowsOfRow(g, row, [&](int64_t pixel, const PoolRegion& region) {
          T* to = y + pixel * channels;
          if constexpr (kPoolsVolumes<T>) {
            if (rank() == 5) return MaxKeepingNan(g, region, from, to);
          }
          MaxOfNumbers(g, region, from, to);
        });
      }
    });
  }

 private:
  static void MaxOfNumbers(const PoolGeometry& g, const PoolRegion& region, const T* from, T* to) {
    const int64_t channels = g.channels;
    std::fill_n(to, channels, Lowest<T>());
    region.ForEach(g, [=](int64_t p) {
      const T* x = from + p * channels;
      for (int64_t c = 0; c < channels; ++c) to[c] = Below(to[c], x[c]) ? x[c] : to[c];
    });
  }
  static void MaxKeepingNan(const PoolGeometry& g, const PoolRegion& region, const T* from, T* to) {
    const int64_t channels = g.channels;
    bool first = true;
    region.ForEach(g, [=, &first](int64_t p) {
      const T* x = from + p * channels;
      for (int64_t c = 0; c < channels; ++c) {
        const bool better = first || Below(to[c], x[c]) || !Same(x[c], x[c]);
        to[c] = better ? x[c] : to[c];
      }
      first = false;
    });
  }
};

// Inputs: orig_input, orig_output, grad.
template <typename T>
class MaxPoolGradKernel final : public PoolKernel {
 public:
  MaxPoolGradKernel(KernelInit& init, int rank) : PoolKernel(init, rank, 3) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const PoolGeometry g = Geometry(ctx, input.shape());
    RefuseChannelWindow("MaxPoolingGrad");
    g.CheckOutput(ctx.input(1).shape(), "orig_output");
    g.CheckOutput(ctx.input(2).shape(), "grad");
    const T* x = input.data<T>();
    [[maybe_unused]] const T* y = ctx.input(1).data<T>();
    const T* dy = ctx.input(2).data<T>();
    T* dx = ctx.AllocateOutput(0, input.shape()).template data<T>();
    ForImageChunks(ctx, g, [&](int64_t n, int64_t first, int64_t count) {
      const int64_t in = n * g.in_pixels() * g.channels + first;
      const int64_t out = n * g.out_pixels() * g.channels + first;
      for (int64_t p = 0; p < g.in_pixels(); ++p) {
        std::fill_n(dx + in + p * g.channels, count, T(0));
      }
      if constexpr (kPoolsVolumes<T>) {
        if (rank() == 5) return AddToAllLargest(g, x + in, y + out, dy + out, dx + in, count);
      }
      if constexpr (std::is_same_v<T, float>) {
        for (int64_t h = 0; h < g.height.out; ++h) {
          BestMaxPoolLoops().line_gradient(g, h, count, x + in,
                                           dy + out + h * g.width.out * g.channels, dx + in);
        }
        return;
      }
      AddToFirstLargest(g, x + in, dy + out, dx + in, count);
    });
  }

 private:
  static void AddToFirstLargest(const PoolGeometry& g, const T* x, const T* dy, T* dx,
                                int64_t count) {
    ForWindows(g, [&](int64_t pixel, const PoolRegion& region) {
      if (region.count() == 0) return;
      Argmax<T> argmax;
      argmax.Find(g, region, x, count);
      const T* from = dy + pixel * g.channels;
      for (int64_t c = 0; c < count; ++c) AddTo(dx[argmax.pixel[c] * g.channels + c], from[c]);
    });
  }
  // TensorFlow's kernel for volumes gives every largest element the whole gradient.
  static void AddToAllLargest(const PoolGeometry& g, const T* x, const T* y, const T* dy, T* dx,
                              int64_t count) {
    ForWindows(g, [&](int64_t pixel, const PoolRegion& region) {
      const T *largest = y + pixel * g.channels, *from = dy + pixel * g.channels;
      region.ForEach(g, [&](int64_t p) {
        const int64_t at = p * g.channels;
        for (int64_t c = 0; c < count; ++c) {
          if (Same(x[at + c], largest[c])) AddTo(dx[at + c], from[c]);
        }
      });
    });
  }
};

// Inputs: orig_input, orig_output, grad with the shape of orig_input. Elements are compared for
// equality and moved, so integers may be seen as unsigned ones.
template <typename T>
class MaxPoolGradGradKernel final : public PoolKernel {
 public:
  MaxPoolGradGradKernel(KernelInit& init, int rank) : PoolKernel(init, rank, 3) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &input = ctx.input(0), &grad = ctx.input(2);
    const PoolGeometry g = Geometry(ctx, input.shape());
    RefuseChannelWindow("MaxPoolingGradGrad");
    g.CheckOutput(ctx.input(1).shape(), "orig_output");
    if (!(grad.shape() == input.shape())) {
      throw InvalidArgument("Expected grad shape to be {}, but got {}", input.shape().ToString(),
                            grad.shape().ToString());
    }
    const T* x = static_cast<const T*>(input.raw_data());
    const T* y = static_cast<const T*>(ctx.input(1).raw_data());
    const T* dx = static_cast<const T*>(grad.raw_data());
    T* dy = static_cast<T*>(ctx.AllocateOutput(0, g.output).raw_data());
    ForImageChunks(ctx, g, [&](int64_t n, int64_t first, int64_t count) {
      const int64_t in = n * g.in_pixels() * g.channels + first;
      const int64_t out = n * g.out_pixels() * g.channels + first;
      ForWindows(g, [&](int64_t pixel, const PoolRegion& region) {
        const T* largest = y + out + pixel * g.channels;
        T* to = dy + out + pixel * g.channels;
        bool found[kPoolChunk] = {};
        std::fill_n(to, count, T(0));
        region.ForEach(g, [&](int64_t p) {
          const int64_t at = in + p * g.channels;
          for (int64_t c = 0; c < count; ++c) {
            if (found[c] || !Same(x[at + c], largest[c])) continue;
            found[c] = true;
            to[c] = dx[at + c];
          }
        });
      });
    });
  }
};

template <typename T>
void AddSelection(KernelRegistry& registry, const std::vector<DType>& types) {
  const auto add = [&](const char* op, int rank) {
    registry.Add(KernelDef(op).Types("T", types).Make(MakeOfRank<MaxPoolGradGradKernel<T>>(rank)));
  };
  add("MaxPoolGradGrad", 4);
  add("MaxPoolGradGradV2", 4);
  add("MaxPool3DGradGrad", 5);
}

}  // namespace

void RegisterMaxPoolCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>(
      [&]<typename T>() {
        for (const char* op : {"MaxPool", "MaxPoolV2"}) {
          registry.Add(KernelDef(op).Type<T>("T").Make(MakeOfRank<MaxPoolKernel<T>>(4)));
        }
      });
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>([&]<typename T>() {
    for (const char* op : {"MaxPoolGrad", "MaxPoolGradV2"}) {
      registry.Add(KernelDef(op).Type<T>("T").Make(MakeOfRank<MaxPoolGradKernel<T>>(4)));
    }
  });
  AddSelection<float>(registry, {DType::kFloat});
  AddSelection<double>(registry, {DType::kDouble});
  AddSelection<Half>(registry, {DType::kHalf});
  AddSelection<BFloat16>(registry, {DType::kBFloat16});
  AddSelection<uint8_t>(registry, {DType::kInt8, DType::kUInt8});
  AddSelection<uint16_t>(registry, {DType::kInt16, DType::kUInt16});
  AddSelection<uint32_t>(registry, {DType::kInt32, DType::kUInt32});
  AddSelection<uint64_t>(registry, {DType::kInt64, DType::kUInt64});
  ForTypes<float, Half, BFloat16>([&]<typename T>() {
    registry.Add(KernelDef("MaxPool3D").Type<T>("T").Make(MakeOfRank<MaxPoolKernel<T>>(5)));
    registry.Add(KernelDef("MaxPool3DGrad")
                     .Type<T>("T")
                     .template Type<T>("TInput")
                     .Make(MakeOfRank<MaxPoolGradKernel<T>>(5)));
  });
}

}  // namespace sextant
