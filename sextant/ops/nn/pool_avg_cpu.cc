// AvgPool and its gradient, on images and volumes.
#include "sextant/ops/math/elementwise_kernel.h"
#include "sextant/ops/nn/pool_kernel.h"

namespace sextant {
namespace {

template <typename T>
class AvgPoolKernel final : public PoolKernel {
 public:
  AvgPoolKernel(KernelInit& init, int rank) : PoolKernel(init, rank) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    RefuseChannelWindow("Pooling");
    const PoolGeometry g = Geometry(ctx, input.shape());
    const T* x = input.data<T>();
    T* y = ctx.AllocateOutput(0, g.output).template data<T>();
    const int64_t image = g.in_pixels() * g.channels, image_rows = g.depth.out * g.height.out;
    const double cost = 0.4 * static_cast<double>(g.window_pixels() * g.width.out * g.channels);
    ctx.ParallelFor(g.batch * image_rows, cost + 10.0, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* from = x + row / image_rows * image;
        ForWindowsOfRow(g, row, [&](int64_t pixel, const PoolRegion& region) {
          Average(g, region, from, y + pixel * g.channels);
        });
      }
    });
  }

 private:
  using Work = Arithmetic<T>;

  static void Average(const PoolGeometry& g, const PoolRegion& region, const T* from, T* to) {
    const Work inverse = Work(1) / static_cast<Work>(region.count());
    for (int64_t first = 0; first < g.channels; first += kPoolChunk) {
      const int64_t count = std::min(kPoolChunk, g.channels - first);
      Work sum[kPoolChunk] = {};
      region.ForEach(g, [&](int64_t p) {
        const T* x = from + p * g.channels + first;
        for (int64_t c = 0; c < count; ++c) sum[c] += static_cast<Work>(x[c]);
      });
      for (int64_t c = 0; c < count; ++c) to[first + c] = T(sum[c] * inverse);
    }
  }
};

// Each input pixel gathers its share of the windows that see it, so that rows are independent.
template <typename T>
class AvgPoolGradKernel final : public PoolKernel {
 public:
  AvgPoolGradKernel(KernelInit& init, int rank) : PoolKernel(init, rank) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &sizes = ctx.input(0), &grad = ctx.input(1);
    if (sizes.rank() != 1 || sizes.dim(0) != rank()) {
      throw InvalidArgument("orig_input_shape must be 1-dimensional and {} elements, got {}",
                            rank(), sizes.shape().ToString());
    }
    RefuseChannelWindow("Pooling");
    const Shape input = ShapeFrom(sizes);
    const PoolGeometry g = Geometry(ctx, input);
    g.CheckOutput(grad.shape(), "grad");
    const T* dy = grad.data<T>();
    T* dx = ctx.AllocateOutput(0, input).template data<T>();
    const int64_t image = g.out_pixels() * g.channels, image_rows = g.depth.in * g.height.in;
    const double cost = static_cast<double>(g.width.in * g.channels);
    ctx.ParallelFor(g.batch * image_rows, cost + 10.0, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t h = row % g.height.in, d = row / g.height.in % g.depth.in;
        for (int64_t w = 0; w < g.width.in; ++w) {
          Gather(g, d, h, w, dy + row / image_rows * image,
                 dx + (row * g.width.in + w) * g.channels);
        }
      }
    });
  }

 private:
  using Work = Arithmetic<T>;

  static Shape ShapeFrom(const Tensor& sizes) {
    const int32_t* values = sizes.data<int32_t>();
    Shape shape;
    for (int64_t i = 0; i < sizes.dim(0); ++i) shape.Append(values[i]);
    return shape;
  }

  static void Gather(const PoolGeometry& g, int64_t d, int64_t h, int64_t w, const T* dy, T* dx) {
    for (int64_t first = 0; first < g.channels; first += kPoolChunk) {
      const int64_t count = std::min(kPoolChunk, g.channels - first);
      Work sum[kPoolChunk] = {};
      for (int64_t od = g.depth.first(d); od < g.depth.last(d); ++od) {
        for (int64_t oh = g.height.first(h); oh < g.height.last(h); ++oh) {
          for (int64_t ow = g.width.first(w); ow < g.width.last(w); ++ow) {
            const Work share = Work(1) / static_cast<Work>(PoolRegion(g, od, oh, ow).count());
            const int64_t pixel = (od * g.height.out + oh) * g.width.out + ow;
            const T* from = dy + pixel * g.channels + first;
            for (int64_t c = 0; c < count; ++c) sum[c] += static_cast<Work>(from[c]) * share;
          }
        }
      }
      for (int64_t c = 0; c < count; ++c) dx[first + c] = T(sum[c]);
    }
  }
};

}  // namespace

void RegisterAvgPoolCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16>([&]<typename T>() {
    registry.Add(KernelDef("AvgPool").Type<T>("T").Make(MakeOfRank<AvgPoolKernel<T>>(4)));
    registry.Add(KernelDef("AvgPool3D").Type<T>("T").Make(MakeOfRank<AvgPoolKernel<T>>(5)));
    registry.Add(KernelDef("AvgPoolGrad").Type<T>("T").Make(MakeOfRank<AvgPoolGradKernel<T>>(4)));
    registry.Add(KernelDef("AvgPool3DGrad").Type<T>("T").Make(MakeOfRank<AvgPoolGradKernel<T>>(5)));
  });
}

}  // namespace sextant
