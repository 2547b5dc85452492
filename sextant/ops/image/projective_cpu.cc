#include <algorithm>
#include <cmath>
#include <string>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

enum class Fill { kConstant, kReflect, kWrap, kNearest };

Fill FillOf(const std::string& mode) {
  if (mode == "CONSTANT") return Fill::kConstant;
  if (mode == "REFLECT") return Fill::kReflect;
  if (mode == "WRAP") return Fill::kWrap;
  if (mode == "NEAREST") return Fill::kNearest;
  throw InvalidArgument("Invalid mode {}: must be CONSTANT, REFLECT, WRAP or NEAREST", mode);
}

// A place brought inside a side of "size" pixels, except for kConstant.
float Inside(float place, int64_t size, Fill fill) {
  const auto length = static_cast<float>(size), last = length - 1;
  if (fill == Fill::kConstant) return place;
  if (!(place < 0 || place > last) || fill == Fill::kNearest) {
    return std::clamp(place, 0.0F, last);
  }
  if (size <= 1) return 0;
  if (fill == Fill::kReflect) {
    const float period = 2 * length;
    if (place < 0) {
      place += period * std::trunc(-place / period);
      place = place < -length ? place + period : -place - 1;
    } else {
      place -= period * std::trunc(place / period);
      if (place >= length) place = period - place - 1;
    }
  } else if (place < 0) {
    place += length * (std::trunc(-place / last) + 1);
  } else {
    place -= length * std::trunc(place / last);
  }
  return std::clamp(place, 0.0F, last);
}

template <typename T>
class ProjectiveKernel : public Kernel {
 public:
  explicit ProjectiveKernel(KernelInit& init) : fill_(FillOf(init.attr<std::string>("fill_mode"))) {
    const auto& interpolation = init.attr<std::string>("interpolation");
    bilinear_ = interpolation == "BILINEAR";
    if (!bilinear_ && interpolation != "NEAREST") {
      throw InvalidArgument("Invalid interpolation {}: must be NEAREST or BILINEAR", interpolation);
    }
  }

  void Compute(KernelContext& ctx) override {
    const Tensor &images = ctx.input(0), &transforms = ctx.input(1);
    if (images.rank() != 4) {
      throw InvalidArgument("Input images must have rank 4, got shape {}",
                            images.shape().ToString());
    }
    if (transforms.rank() != 2 || transforms.dim(1) != 8 ||
        (transforms.dim(0) != 1 && transforms.dim(0) != images.dim(0))) {
      throw InvalidArgument("Input transform should be num_images x 8 or 1 x 8, got {}",
                            transforms.shape().ToString());
    }
    CheckVector(ctx.input(2), "output_shape", 2);
    const int64_t height = IndexAt(ctx.input(2), 0), width = IndexAt(ctx.input(2), 1);
    if (height <= 0 || width <= 0) {
      throw InvalidArgument("new dimensions must be positive, got {} by {}", height, width);
    }
    value_ = ctx.num_inputs() > 3 ? ctx.input(3).scalar<float>() : 0;
    Tensor& out = ctx.AllocateOutput(0, Shape{images.dim(0), height, width, images.dim(3)});
    const int64_t row = width * images.dim(3);
    ctx.ParallelFor(
        images.dim(0) * height, static_cast<double>(8 * row), [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            const int64_t image = r / height;
            const float* t = transforms.data<float>() + (transforms.dim(0) == 1 ? 0 : 8 * image);
            Row(images, image, t, r % height, width, out.data<T>() + r * row);
          }
        });
  }

 private:
  void Row(const Tensor& images, int64_t image, const float* t, int64_t row, int64_t width,
           T* to) const {
    const int64_t rows = images.dim(1), columns = images.dim(2), channels = images.dim(3);
    const T* from = images.data<T>() + image * rows * columns * channels;
    const auto y = static_cast<float>(row);
    for (int64_t i = 0; i < width; ++i, to += channels) {
      const auto x = static_cast<float>(i);
      const float k = t[6] * x + t[7] * y + 1;
      const float at_x = Inside((t[0] * x + t[1] * y + t[2]) / k, columns, fill_);
      const float at_y = Inside((t[3] * x + t[4] * y + t[5]) / k, rows, fill_);
      const auto read = [&](float py, float px, int64_t c) {
        // Compared as integers: not every number of pixels is a float.
        constexpr float kFar = 1e9F;
        if (!(py >= 0 && px >= 0 && py < kFar && px < kFar)) return static_cast<T>(value_);
        const auto iy = static_cast<int64_t>(py), ix = static_cast<int64_t>(px);
        if (iy >= rows || ix >= columns) return static_cast<T>(value_);
        return from[(iy * columns + ix) * channels + c];
      };
      for (int64_t c = 0; c < channels; ++c) {
        if (k == 0) {
          to[c] = static_cast<T>(value_);
        } else if (bilinear_) {
          const float top = std::floor(at_y), left = std::floor(at_x);
          const auto mixed = [&](float py) {
            return (left + 1 - at_x) * static_cast<float>(read(py, left, c)) +
                   (at_x - left) * static_cast<float>(read(py, left + 1, c));
          };
          to[c] = static_cast<T>((top + 1 - at_y) * mixed(top) + (at_y - top) * mixed(top + 1));
        } else {
          to[c] = read(std::round(at_y), std::round(at_x), c);
        }
      }
    }
  }

  const Fill fill_;
  bool bilinear_ = false;
  float value_ = 0;
};

}  // namespace

void RegisterProjectiveCpu(KernelRegistry& registry) {
  ForTypes<uint8_t, int32_t, int64_t, Half, float, double>([&]<typename T>() {
    for (const char* op : {"ImageProjectiveTransformV2", "ImageProjectiveTransformV3"}) {
      registry.Add(KernelDef(op).Type<T>("dtype").template Make<ProjectiveKernel<T>>());
    }
  });
}

}  // namespace sextant
