#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/formats/image/resize_taps.h"
#include "sextant/ops/image/float_pixels.h"
#include "sextant/ops/image/resize_geometry.h"
#include "sextant/ops/image/resize_nearest.h"

namespace sextant {
namespace {

// Resampled images, each row by one thread.
void Resample(KernelContext& ctx, const float* from, int64_t batch, int64_t from_height,
              int64_t from_width, int64_t channels, const TapTable& rows, const TapTable& columns,
              float* to) {
  const int64_t from_row = from_width * channels, to_row = columns.size() * channels;
  const double cost = static_cast<double>(from_row + 2 * to_row);
  ctx.ParallelFor(batch * rows.size(), cost, [&](int64_t begin, int64_t end) {
    thread_local std::vector<float> line;
    for (int64_t r = begin; r < end; ++r) {
      ResampleRow(from + r / rows.size() * from_height * from_row, from_width, channels, rows,
                  columns, r % rows.size(), &line, to + r * to_row);
    }
  });
}

// The same where the sums are doubles, of products that are floats, as in TensorFlow.
void ResampleDoubles(KernelContext& ctx, const float* from, const ResizeGeometry& g,
                     const TapTable& rows, const TapTable& columns, double* to) {
  const double cost = static_cast<double>(g.out_row() + 4 * g.in_row());
  ctx.ParallelFor(g.batch * g.in_height, cost, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* const image = from + r / g.in_height * g.out_height * g.out_row();
      const int64_t y = r % g.in_height;
      double* const row = to + r * g.in_row();
      std::fill_n(row, g.in_row(), 0.0);
      for (int64_t k = rows.start[y]; k < rows.start[y + 1]; ++k) {
        const float* const line = image + rows.index[k] * g.out_row();
        for (int64_t x = 0; x < g.in_width; ++x) {
          for (int64_t j = columns.start[x]; j < columns.start[x + 1]; ++j) {
            const float* const pixel = line + columns.index[j] * g.channels;
            for (int64_t c = 0; c < g.channels; ++c) {
              row[x * g.channels + c] += pixel[c] * rows.weight[k] * columns.weight[j];
            }
          }
        }
      }
    }
  });
}

// The tables for the last geometry, made again when it changes.
class Tables {
 public:
  using Maker = TapTable (*)(int64_t in, int64_t out, const ResizeMode& mode);

  void Use(Maker make, const ResizeGeometry& g, const ResizeMode& mode, bool transposed) {
    const Shape sizes{g.in_height, g.in_width, g.out_height, g.out_width};
    if (sizes == sizes_) return;
    Set(make(g.in_height, g.out_height, mode), make(g.in_width, g.out_width, mode), g, transposed);
    sizes_ = sizes;
  }
  void Set(TapTable rows, TapTable columns, const ResizeGeometry& g, bool transposed) {
    rows_ = transposed ? rows.Transposed(g.in_height) : std::move(rows);
    columns_ = transposed ? columns.Transposed(g.in_width) : std::move(columns);
  }
  const TapTable& rows() const { return rows_; }
  const TapTable& columns() const { return columns_; }

 private:
  Shape sizes_;
  TapTable rows_, columns_;
};

class ResizeKernel : public Kernel {
 public:
  ResizeKernel(KernelInit& init, Tables::Maker make, bool has_half_pixel) : make_(make) {
    mode_.align_corners = init.attr<bool>("align_corners");
    if (has_half_pixel) mode_.half_pixel_centers = init.attr<bool>("half_pixel_centers");
    mode_.Check();
  }

  void Compute(KernelContext& ctx) override {
    const Tensor& images = ctx.input(0);
    const ResizeGeometry g = GeometryOf(images, ctx.input(1));
    Tensor& out = ctx.AllocateOutput(0, g.out_shape());
    if (out.num_elements() == 0) return;
    tables_.Use(make_, g, mode_, false);
    const float* pixels = FloatPixels(images, &scratch_);
    Resample(ctx, pixels, g.batch, g.in_height, g.in_width, g.channels, tables_.rows(),
             tables_.columns(), out.data<float>());
  }

 private:
  const Tables::Maker make_;
  ResizeMode mode_;
  Tables tables_;
  std::vector<float> scratch_;
};

class ResizeGradKernel : public Kernel {
 public:
  ResizeGradKernel(KernelInit& init, Tables::Maker make) : make_(make) {
    mode_ = {init.attr<bool>("align_corners"), init.attr<bool>("half_pixel_centers")};
    mode_.Check();
  }

  void Compute(KernelContext& ctx) override {
    const ResizeGeometry g = GradGeometryOf(ctx.input(0), ctx.input(1));
    Tensor& out = ctx.AllocateOutput(0, g.in_shape());
    if (out.num_elements() == 0) return;
    tables_.Use(make_, g, mode_, true);
    if (out.dtype() == DType::kDouble) {
      return ResampleDoubles(ctx, ctx.input(0).data<float>(), g, tables_.rows(), tables_.columns(),
                             out.data<double>());
    }
    Resample(ctx, ctx.input(0).data<float>(), g.batch, g.out_height, g.out_width, g.channels,
             tables_.rows(), tables_.columns(), FloatSums(out, &scratch_));
    StoreSums(scratch_, out);
  }

 private:
  const Tables::Maker make_;
  ResizeMode mode_;
  Tables tables_;
  std::vector<float> scratch_;
};

class ScaleAndTranslateKernel : public Kernel {
 public:
  ScaleAndTranslateKernel(KernelInit& init, bool gradient)
      : kernel_(init.attr<std::string>("kernel_type")),
        antialias_(init.attr<bool>("antialias")),
        gradient_(gradient) {}

  void Compute(KernelContext& ctx) override {
    const ResizeGeometry g = gradient_ ? GradGeometryOf(ctx.input(0), ctx.input(1))
                                       : GeometryOf(ctx.input(0), ctx.input(1));
    const float* scale = Pair(ctx.input(2), "scale");
    const float* shift = Pair(ctx.input(3), "translation");
    if (!(scale[0] > 0 && scale[1] > 0)) {
      throw InvalidArgument("scale should be greater than zero, got {} and {}", scale[0], scale[1]);
    }
    Tensor& out = ctx.AllocateOutput(0, gradient_ ? g.in_shape() : g.out_shape());
    if (out.num_elements() == 0) return;
    tables_.Set(SampledTaps(g.in_height, g.out_height, kernel_, scale[0], shift[0], antialias_),
                SampledTaps(g.in_width, g.out_width, kernel_, scale[1], shift[1], antialias_), g,
                gradient_);
    const float* pixels = FloatPixels(ctx.input(0), &scratch_);
    Resample(ctx, pixels, g.batch, gradient_ ? g.out_height : g.in_height,
             gradient_ ? g.out_width : g.in_width, g.channels, tables_.rows(), tables_.columns(),
             out.data<float>());
  }

 private:
  static const float* Pair(const Tensor& tensor, const char* what) {
    if (tensor.rank() != 1 || tensor.num_elements() != 2) {
      throw InvalidArgument("{} must be a vector of 2 elements, got shape {}", what,
                            tensor.shape().ToString());
    }
    return tensor.data<float>();
  }

  const SamplingKernel kernel_;
  const bool antialias_, gradient_;
  Tables tables_;
  std::vector<float> scratch_;
};

}  // namespace

void RegisterResizeCpu(KernelRegistry& registry) {
  const auto forward = [&](const char* op, Tables::Maker make, bool has_half_pixel) {
    registry.Add(KernelDef(op).Types("T", PixelTypes()).Make([=](KernelInit& init) {
      return std::make_unique<ResizeKernel>(init, make, has_half_pixel);
    }));
  };
  forward("ResizeBilinear", BilinearTaps, true);
  forward("ResizeBicubic", BicubicTaps, true);
  forward("ResizeArea", AreaTaps, false);
  const auto gradient = [&](const char* op, Tables::Maker make) {
    registry.Add(KernelDef(op).Make(
        [=](KernelInit& init) { return std::make_unique<ResizeGradKernel>(init, make); }));
  };
  gradient("ResizeBilinearGrad", BilinearTaps);
  gradient("ResizeBicubicGrad", BicubicTaps);
  registry.Add(KernelDef("ScaleAndTranslate").Types("T", PixelTypes()).Make([](KernelInit& init) {
    return std::make_unique<ScaleAndTranslateKernel>(init, false);
  }));
  registry.Add(KernelDef("ScaleAndTranslateGrad").Make([](KernelInit& init) {
    return std::make_unique<ScaleAndTranslateKernel>(init, true);
  }));
  RegisterResizeNearestCpu(registry);
}

}  // namespace sextant
