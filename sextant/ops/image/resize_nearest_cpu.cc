#include <algorithm>
#include <cmath>
#include <vector>

#include "sextant/formats/image/resize_taps.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/image/float_pixels.h"
#include "sextant/ops/image/resize_geometry.h"
#include "sextant/ops/image/resize_nearest.h"

namespace sextant {
namespace {

// The input pixel nearest to each output pixel.
void NearestPixels(int64_t in, int64_t out, const ResizeMode& mode, std::vector<int64_t>* pixels) {
  const float scale = mode.Scale(in, out);
  pixels->resize(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const float place = (static_cast<float>(i) + (mode.half_pixel_centers ? 0.5F : 0)) * scale;
    const float pixel = mode.align_corners ? std::round(place) : std::floor(place);
    (*pixels)[i] = std::clamp<int64_t>(static_cast<int64_t>(pixel), 0, in - 1);
  }
}

class NearestKernel : public Kernel {
 public:
  explicit NearestKernel(KernelInit& init)
      : mode_{init.attr<bool>("align_corners"), init.attr<bool>("half_pixel_centers")} {
    mode_.Check();
  }

  void Compute(KernelContext& ctx) override {
    const Tensor& images = ctx.input(0);
    const ResizeGeometry g = GeometryOf(images, ctx.input(1));
    Tensor& out = ctx.AllocateOutput(0, g.out_shape());
    if (out.num_elements() == 0) return;
    NearestPixels(g.in_height, g.out_height, mode_, &rows_);
    NearestPixels(g.in_width, g.out_width, mode_, &columns_);
    WithElement(images.dtype(), [&]<typename T>() {
      const auto* from = static_cast<const T*>(images.raw_data());
      auto* to = static_cast<T*>(out.raw_data());
      const auto cost = static_cast<double>(g.out_row());
      ctx.ParallelFor(g.batch * g.out_height, cost, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          const int64_t y = rows_[r % g.out_height];
          const T* row = from + (r / g.out_height * g.in_height + y) * g.in_row();
          T* pixel = to + r * g.out_row();
          for (int64_t x = 0; x < g.out_width; ++x, pixel += g.channels) {
            std::copy_n(row + columns_[x] * g.channels, g.channels, pixel);
          }
        }
      });
    });
  }

 private:
  ResizeMode mode_;
  std::vector<int64_t> rows_, columns_;
};

// Each image by one thread, as several pixels may go to one.
class NearestGradKernel : public Kernel {
 public:
  explicit NearestGradKernel(KernelInit& init)
      : mode_{init.attr<bool>("align_corners"), init.attr<bool>("half_pixel_centers")} {
    mode_.Check();
  }

  void Compute(KernelContext& ctx) override {
    const Tensor& grads = ctx.input(0);
    // Its size is the one of the images before they were resized.
    const ResizeGeometry g = GeometryOf(grads, ctx.input(1));
    Tensor& out = ctx.AllocateOutput(0, g.out_shape());
    if (out.num_elements() == 0) return;
    NearestPixels(g.out_height, g.in_height, mode_, &rows_);
    NearestPixels(g.out_width, g.in_width, mode_, &columns_);
    switch (out.dtype()) {
      case DType::kUInt8:
        return Add(ctx, g, grads.data<uint8_t>(), out.data<uint8_t>());
      case DType::kInt8:
        return Add(ctx, g, grads.data<int8_t>(), out.data<int8_t>());
      case DType::kInt32:
        return Add(ctx, g, reinterpret_cast<const uint32_t*>(grads.data<int32_t>()),
                   reinterpret_cast<uint32_t*>(out.data<int32_t>()));
      case DType::kDouble:
        return Add(ctx, g, grads.data<double>(), out.data<double>());
      default:
        Add(ctx, g, FloatPixels(grads, &scratch_), FloatSums(out, &sums_));
        StoreSums(sums_, out);
    }
  }

 private:
  template <typename T>
  void Add(KernelContext& ctx, const ResizeGeometry& g, const T* grads, T* out) {
    const auto cost = static_cast<double>(g.in_height * g.in_row());
    ctx.ParallelFor(g.batch, cost, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        T* image = out + b * g.out_height * g.out_row();
        std::fill_n(image, g.out_height * g.out_row(), T{});
        const T* grad = grads + b * g.in_height * g.in_row();
        for (int64_t y = 0; y < g.in_height; ++y) {
          for (int64_t x = 0; x < g.in_width; ++x, grad += g.channels) {
            T* sum = image + rows_[y] * g.out_row() + columns_[x] * g.channels;
            for (int64_t c = 0; c < g.channels; ++c) sum[c] = static_cast<T>(sum[c] + grad[c]);
          }
        }
      }
    });
  }

  ResizeMode mode_;
  std::vector<int64_t> rows_, columns_;
  std::vector<float> scratch_, sums_;
};

}  // namespace

void RegisterResizeNearestCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("ResizeNearestNeighbor").Make<NearestKernel>());
  registry.Add(KernelDef("ResizeNearestNeighborGrad").Make<NearestGradKernel>());
}

}  // namespace sextant
