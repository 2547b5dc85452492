#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/image/float_pixels.h"

namespace sextant {
namespace {

// One side of a box over "pixels" pixels, resized to "size".
struct Side {
  float first, last;  // of the box, in units of the image
  int64_t pixels, size;

  float Place(int64_t i) const {
    const auto end = static_cast<float>(pixels - 1);
    if (size <= 1) return 0.5F * (first + last) * end;
    const float scale = (last - first) * end / static_cast<float>(size - 1);
    return first * end + static_cast<float>(i) * scale;
  }
  // The place of pixel i of the crop, unless it is outside the image.
  std::optional<float> Inside(int64_t i) const {
    const float place = Place(i);
    if (!(place >= 0 && place <= static_cast<float>(pixels - 1))) return std::nullopt;
    return place;
  }
  // How the place of pixel i moves with the ends of the box.
  float MoveWithFirst(int64_t i) const {
    const auto end = static_cast<float>(pixels - 1);
    return size > 1 ? static_cast<float>(size - 1 - i) * end / static_cast<float>(size - 1)
                    : 0.5F * end;
  }
  float MoveWithLast(int64_t i) const {
    const auto end = static_cast<float>(pixels - 1);
    return size > 1 ? static_cast<float>(i) * end / static_cast<float>(size - 1) : 0.5F * end;
  }
};

// A place between two of a side's pixels. The last pixel need not be a float, hence the bounds.
struct Between {
  int64_t low, high;
  float part;

  Between(float place, int64_t pixels)
      : low(std::min(static_cast<int64_t>(std::floor(place)), pixels - 1)),
        high(std::min(static_cast<int64_t>(std::ceil(place)), pixels - 1)),
        part(place - std::floor(place)) {}
};

int64_t Nearest(float place, int64_t pixels) {
  return std::min(static_cast<int64_t>(std::round(place)), pixels - 1);
}

void CheckBoxes(const Tensor& boxes, const Tensor& indices, int64_t batch) {
  if (boxes.rank() != 2 || boxes.dim(1) != 4 || indices.rank() != 1 ||
      indices.dim(0) != boxes.dim(0)) {
    throw InvalidArgument("boxes of shape {} and box_index of shape {} must be [n, 4] and [n]",
                          boxes.shape().ToString(), indices.shape().ToString());
  }
  for (int64_t i = 0; i < boxes.num_elements(); ++i) {
    if (!std::isfinite(boxes.data<float>()[i])) {
      throw InvalidArgument("Boxes contains at least one element that is not finite: boxes{} = {}",
                            CoordinatesText(boxes.shape(), i), boxes.data<float>()[i]);
    }
  }
  for (const int32_t index : indices.flat<int32_t>()) {
    if (index < 0 || index >= batch) {
      throw OutOfRange("box_index has values outside [0, batch_size): {} of {}", index, batch);
    }
  }
}

void CheckImage(const Shape& image) {
  if (image.rank() != 4) {
    throw InvalidArgument("input image must be 4-D, got shape {}", image.ToString());
  }
  if (image[1] <= 0 || image[2] <= 0) {
    throw InvalidArgument("image dimensions must be positive, got shape {}", image.ToString());
  }
}

void CheckGrads(const Tensor& grads, const Tensor& boxes, const Shape& image) {
  if (grads.rank() != 4 || grads.dim(0) != boxes.dim(0) || grads.dim(3) != image[3] ||
      grads.dim(1) <= 0 || grads.dim(2) <= 0) {
    throw InvalidArgument("grads of shape {} do not fit {} boxes of images of shape {}",
                          grads.shape().ToString(), boxes.dim(0), image.ToString());
  }
}

struct BoxSides {
  Side y, x;
  BoxSides(const float* box, const Shape& image, int64_t height, int64_t width)
      : y{box[0], box[2], image[1], height}, x{box[1], box[3], image[2], width} {}
};

class CropKernel : public Kernel {
 public:
  explicit CropKernel(KernelInit& init)
      : nearest_(init.attr<std::string>("method") == "nearest"),
        outside_(init.attr<float>("extrapolation_value")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &image = ctx.input(0), &boxes = ctx.input(1), &indices = ctx.input(2);
    CheckImage(image.shape());
    CheckBoxes(boxes, indices, image.dim(0));
    CheckVector(ctx.input(3), "crop_size", 2);
    const auto* size = ctx.input(3).data<int32_t>();
    if (size[0] <= 0 || size[1] <= 0) {
      throw InvalidArgument("crop dimensions must be positive, got {} by {}", size[0], size[1]);
    }
    const int64_t height = size[0], width = size[1], channels = image.dim(3);
    Tensor& out = ctx.AllocateOutput(0, Shape{boxes.dim(0), height, width, channels});
    const float* pixels = FloatPixels(image, &scratch_);
    const int64_t stride = image.dim(1) * image.dim(2) * channels;
    const auto cost = static_cast<double>(4 * height * width * channels);
    ctx.ParallelFor(boxes.dim(0), cost, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const BoxSides box(boxes.data<float>() + 4 * b, image.shape(), height, width);
        Crop(pixels + indices.data<int32_t>()[b] * stride, box, channels,
             out.data<float>() + b * height * width * channels);
      }
    });
  }

 private:
  void Crop(const float* image, const BoxSides& box, int64_t channels, float* to) const {
    const int64_t row = box.x.pixels * channels;
    for (int64_t y = 0; y < box.y.size; ++y) {
      const auto in_y = box.y.Inside(y);
      for (int64_t x = 0; x < box.x.size; ++x, to += channels) {
        const auto in_x = in_y ? box.x.Inside(x) : std::nullopt;
        if (!in_x) {
          std::fill_n(to, channels, outside_);
        } else if (nearest_) {
          const int64_t near_y = Nearest(*in_y, box.y.pixels);
          const int64_t near_x = Nearest(*in_x, box.x.pixels);
          std::copy_n(image + near_y * row + near_x * channels, channels, to);
        } else {
          const Between v(*in_y, box.y.pixels), h(*in_x, box.x.pixels);
          const float* top = image + v.low * row;
          const float* bottom = image + v.high * row;
          for (int64_t c = 0; c < channels; ++c) {
            const int64_t left = h.low * channels + c, right = h.high * channels + c;
            const float upper = top[left] + (top[right] - top[left]) * h.part;
            const float lower = bottom[left] + (bottom[right] - bottom[left]) * h.part;
            to[c] = upper + (lower - upper) * v.part;
          }
        }
      }
    }
  }

  const bool nearest_;
  const float outside_;
  std::vector<float> scratch_;
};

class GradImageKernel : public Kernel {
 public:
  explicit GradImageKernel(KernelInit& init)
      : nearest_(init.attr<std::string>("method") == "nearest") {}

  void Compute(KernelContext& ctx) override {
    const Tensor &grads = ctx.input(0), &boxes = ctx.input(1), &indices = ctx.input(2);
    CheckVector(ctx.input(3), "image_size", 4);
    const Shape image = ShapeFromTensor(ctx.input(3), "image_size");
    CheckImage(image);
    CheckBoxes(boxes, indices, image[0]);
    CheckGrads(grads, boxes, image);
    Tensor& out = ctx.AllocateOutput(0, image);
    if (out.dtype() == DType::kDouble) {
      std::fill_n(out.data<double>(), out.num_elements(), 0.0);
      AddBoxes(ctx, image, out.data<double>());
      return;
    }
    AddBoxes(ctx, image, FloatSums(out, &sums_));
    StoreSums(sums_, out);
  }

 private:
  template <typename T>
  void AddBoxes(KernelContext& ctx, const Shape& image, T* sums) const {
    const Tensor &grads = ctx.input(0), &boxes = ctx.input(1), &indices = ctx.input(2);
    const int64_t stride = image[1] * image[2] * image[3];
    const float* grad = grads.data<float>();
    for (int64_t b = 0; b < boxes.dim(0); ++b) {
      const BoxSides box(boxes.data<float>() + 4 * b, image, grads.dim(1), grads.dim(2));
      AddBox(box, image[3], grad + b * grads.dim(1) * grads.dim(2) * image[3],
             sums + indices.data<int32_t>()[b] * stride);
    }
  }

  // Products are rounded to float, as in TensorFlow, whatever the sums are.
  template <typename T>
  void AddBox(const BoxSides& box, int64_t channels, const float* grad, T* image) const {
    const int64_t row = box.x.pixels * channels;
    for (int64_t y = 0; y < box.y.size; ++y) {
      const auto in_y = box.y.Inside(y);
      for (int64_t x = 0; x < box.x.size; ++x, grad += channels) {
        const auto in_x = in_y ? box.x.Inside(x) : std::nullopt;
        if (!in_x) continue;
        const auto add = [&](int64_t at_y, int64_t at_x, float weight_y, float weight_x) {
          T* pixel = image + at_y * row + at_x * channels;
          for (int64_t c = 0; c < channels; ++c) {
            pixel[c] += static_cast<T>(weight_x * (weight_y * grad[c]));
          }
        };
        if (nearest_) {
          add(Nearest(*in_y, box.y.pixels), Nearest(*in_x, box.x.pixels), 1, 1);
          continue;
        }
        const Between v(*in_y, box.y.pixels), h(*in_x, box.x.pixels);
        add(v.low, h.low, 1 - v.part, 1 - h.part);
        add(v.low, h.high, 1 - v.part, h.part);
        add(v.high, h.low, v.part, 1 - h.part);
        add(v.high, h.high, v.part, h.part);
      }
    }
  }

  const bool nearest_;
  std::vector<float> sums_;
};

class GradBoxesKernel : public Kernel {
 public:
  explicit GradBoxesKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &grads = ctx.input(0), &image = ctx.input(1), &boxes = ctx.input(2);
    CheckImage(image.shape());
    CheckBoxes(boxes, ctx.input(3), image.dim(0));
    CheckGrads(grads, boxes, image.shape());
    Tensor& out = ctx.AllocateOutput(0, Shape{boxes.dim(0), 4});
    const float* pixels = FloatPixels(image, &scratch_);
    const int64_t stride = image.dim(1) * image.dim(2) * image.dim(3);
    const int64_t crop = grads.dim(1) * grads.dim(2) * grads.dim(3);
    for (int64_t b = 0; b < boxes.dim(0); ++b) {
      const BoxSides box(boxes.data<float>() + 4 * b, image.shape(), grads.dim(1), grads.dim(2));
      BoxGradient(box, image.dim(3), pixels + ctx.input(3).data<int32_t>()[b] * stride,
                  grads.data<float>() + b * crop, out.data<float>() + 4 * b);
    }
  }

 private:
  static void BoxGradient(const BoxSides& box, int64_t channels, const float* image,
                          const float* grad, float* to) {
    std::fill_n(to, 4, 0.0F);
    const int64_t row = box.x.pixels * channels;
    for (int64_t y = 0; y < box.y.size; ++y) {
      const auto in_y = box.y.Inside(y);
      for (int64_t x = 0; x < box.x.size; ++x, grad += channels) {
        const auto in_x = in_y ? box.x.Inside(x) : std::nullopt;
        if (!in_x) continue;
        const Between v(*in_y, box.y.pixels), h(*in_x, box.x.pixels);
        float along_y = 0, along_x = 0;
        for (int64_t c = 0; c < channels; ++c) {
          const float* top = image + v.low * row + c;
          const float* bottom = image + v.high * row + c;
          const int64_t left = h.low * channels, right = h.high * channels;
          along_y += grad[c] * ((1 - h.part) * (bottom[left] - top[left]) +
                                h.part * (bottom[right] - top[right]));
          along_x += grad[c] * ((1 - v.part) * (top[right] - top[left]) +
                                v.part * (bottom[right] - bottom[left]));
        }
        to[0] += along_y * box.y.MoveWithFirst(y);
        to[1] += along_x * box.x.MoveWithFirst(x);
        to[2] += along_y * box.y.MoveWithLast(y);
        to[3] += along_x * box.x.MoveWithLast(x);
      }
    }
  }

  std::vector<float> scratch_;
};

}  // namespace

void RegisterCropCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("CropAndResize").Make<CropKernel>());
  registry.Add(KernelDef("CropAndResizeGradImage").Make<GradImageKernel>());
  registry.Add(KernelDef("CropAndResizeGradBoxes").Make<GradBoxesKernel>());
}

}  // namespace sextant
