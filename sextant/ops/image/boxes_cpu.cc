#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/philox.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/image/float_pixels.h"
#include "sextant/ops/image/random_crop.h"
#include "sextant/ops/random/random_stream.h"
#include "sextant/ops/random/stateless_seed.h"

namespace sextant {
namespace {

constexpr float kColors[10][4] = {
    {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5F, 0, 0.5F, 1},
    {0.5F, 0.5F, 0, 1}, {0.5F, 0, 0, 1}, {0, 0, 0.5F, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

// Cut off towards zero. What int64 does not hold is its smallest number, as the conversion of
// x86-64 has it, and so TensorFlow.
int64_t Pixel(float place) {
  constexpr float kLimit = 0x1p63F;
  return place >= -kLimit && place < kLimit ? static_cast<int64_t>(place)
                                            : std::numeric_limits<int64_t>::min();
}

class DrawKernel : public Kernel {
 public:
  explicit DrawKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &images = ctx.input(0), &boxes = ctx.input(1);
    if (images.rank() != 4 || boxes.rank() != 3 || boxes.dim(2) != 4 ||
        boxes.dim(0) != images.dim(0)) {
      throw InvalidArgument("boxes of shape {} do not fit images of shape {}",
                            boxes.shape().ToString(), images.shape().ToString());
    }
    const int64_t channels = images.dim(3);
    if (channels != 1 && channels != 3 && channels != 4) {
      throw InvalidArgument("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), got {}",
                            channels);
    }
    ChooseColors(ctx, channels);
    Tensor& out = ctx.AllocateOutput(0, images.shape());
    float* pixels = out.dtype() == DType::kFloat ? out.data<float>() : nullptr;
    const float* from = FloatPixels(images, &scratch_);
    if (pixels == nullptr) {
      pixels = scratch_.data();
    } else {
      std::copy_n(from, out.num_elements(), pixels);
    }
    const int64_t image = images.dim(1) * images.dim(2) * channels;
    for (int64_t b = 0; image > 0 && b < boxes.dim(0); ++b) {
      for (int64_t k = 0; k < boxes.dim(1); ++k) {
        Draw(boxes.data<float>() + (b * boxes.dim(1) + k) * 4, images.shape(),
             colors_[static_cast<size_t>(k) % colors_.size()].data(), pixels + b * image);
      }
    }
    StoreSums(scratch_, out);
  }

 private:
  void ChooseColors(KernelContext& ctx, int64_t channels) {
    colors_.clear();
    if (ctx.num_inputs() > 2) {
      const Tensor& given = ctx.input(2);
      if (given.rank() != 2) {
        throw InvalidArgument("colors must be a matrix, got shape {}", given.shape().ToString());
      }
      if (given.dim(1) < channels && given.dim(0) > 0) {
        throw InvalidArgument("colors must have equal or more channels than the image provided: {}",
                              given.shape().ToString());
      }
      for (int64_t i = 0; i < given.dim(0); ++i) {
        const float* color = given.data<float>() + i * given.dim(1);
        colors_.emplace_back(color, color + channels);
      }
    }
    if (!colors_.empty()) return;
    for (const auto& color : kColors) {
      colors_.emplace_back(color, color + channels);
      if (channels == 1) colors_.back()[0] = 1;
    }
  }

  static void Draw(const float* box, const Shape& shape, const float* color, float* image) {
    const int64_t height = shape[1], width = shape[2], channels = shape[3];
    const int64_t top = Pixel(box[0] * static_cast<float>(height - 1));
    const int64_t left = Pixel(box[1] * static_cast<float>(width - 1));
    const int64_t bottom = Pixel(box[2] * static_cast<float>(height - 1));
    const int64_t right = Pixel(box[3] * static_cast<float>(width - 1));
    if (top > bottom || left > right) return;
    const auto paint = [&](int64_t y, int64_t x) {
      std::copy_n(color, channels, image + (y * width + x) * channels);
    };
    const int64_t first_x = std::max<int64_t>(left, 0), last_x = std::min(right, width - 1);
    const int64_t first_y = std::max<int64_t>(top, 0), last_y = std::min(bottom, height - 1);
    for (const int64_t y : {top, bottom}) {
      for (int64_t x = first_x; y >= 0 && y < height && x <= last_x; ++x) paint(y, x);
    }
    for (const int64_t x : {left, right}) {
      for (int64_t y = first_y; x >= 0 && x < width && y <= last_y; ++y) paint(y, x);
    }
  }

  std::vector<std::vector<float>> colors_;
  std::vector<float> scratch_;
};

class SampleKernel : public Kernel {
 public:
  explicit SampleKernel(KernelInit& init) {
    if (init.node().op().stateful()) stream_.emplace(init);
    if (init.num_inputs() == 2) options_.min_covered = init.attr<float>("min_object_covered");
    const auto range = [&](const char* name, float limit) {
      const auto& values = init.attr<std::vector<float>>(name);
      if (values.size() != 2 || !(values[0] > 0 && values[0] <= values[1] && values[1] <= limit)) {
        throw InvalidArgument("{} must be two positive values in order", name);
      }
      return std::pair<float, float>(values[0], values[1]);
    };
    options_.aspect_ratio = range("aspect_ratio_range", std::numeric_limits<float>::max());
    options_.area = range("area_range", 1);
    options_.max_attempts = init.attr<int64_t>("max_attempts");
    if (options_.max_attempts <= 0) {
      throw InvalidArgument("max_attempts must be positive, got {}", options_.max_attempts);
    }
    use_image_ = init.attr<bool>("use_image_if_no_bounding_boxes");
  }

  void Compute(KernelContext& ctx) override {
    const Tensor& size = ctx.input(0);
    CheckVector(size, "image_size", 3);
    const int64_t height = IndexAt(size, 0), width = IndexAt(size, 1);
    if (height <= 0 || width <= 0 || height > kMaxSide || width > kMaxSide) {
      throw InvalidArgument("image height and width must be positive, got {} by {}", height, width);
    }
    ReadBoxes(ctx.input(1), height, width);
    if (ctx.num_inputs() > 2) ReadCovered(ctx.input(2));
    const Philox generator =
        stream_ ? stream_->Reserve(ctx, static_cast<uint64_t>(options_.max_attempts))
                : StreamOfSeed(ctx.input(3));
    const PixelBox crop = RandomCropBox(options_, boxes_, height, width, generator);
    WriteIndices(ctx.AllocateOutput(0, Shape{3}), {crop.top, crop.left, 0});
    WriteIndices(ctx.AllocateOutput(1, Shape{3}),
                 {crop.bottom - crop.top, crop.right - crop.left, -1});
    auto* box = ctx.AllocateOutput(2, Shape{1, 1, 4}).data<float>();
    const auto h = static_cast<float>(height), w = static_cast<float>(width);
    box[0] = static_cast<float>(crop.top) / h;
    box[1] = static_cast<float>(crop.left) / w;
    box[2] = static_cast<float>(crop.bottom) / h;
    box[3] = static_cast<float>(crop.right) / w;
  }

 private:
  static constexpr int64_t kMaxSide = 1 << 24;

  void ReadCovered(const Tensor& covered) {
    if (covered.rank() != 0) {
      throw InvalidArgument("min_object_covered must be 0-D, got shape {}",
                            covered.shape().ToString());
    }
    options_.min_covered = covered.scalar<float>();
    if (!(options_.min_covered >= 0 && options_.min_covered <= 1)) {
      throw InvalidArgument("min_object_covered must be in [0, 1], got {}", options_.min_covered);
    }
  }

  void ReadBoxes(const Tensor& boxes, int64_t height, int64_t width) {
    if (boxes.rank() != 3 || boxes.dim(2) != 4) {
      throw InvalidArgument("bounding_boxes must be of shape [batch, n, 4], got {}",
                            boxes.shape().ToString());
    }
    boxes_.clear();
    const auto h = static_cast<float>(height), w = static_cast<float>(width);
    for (int64_t i = 0; i < boxes.num_elements() / 4; ++i) {
      const float* box = boxes.data<float>() + 4 * i;
      for (int k = 0; k < 4; ++k) {
        if (!(box[k] >= 0 && box[k] <= 1)) {
          throw InvalidArgument("All bounding box coordinates must be in [0.0, 1.0]: {}", box[k]);
        }
      }
      boxes_.push_back({static_cast<int64_t>(box[0] * h), static_cast<int64_t>(box[1] * w),
                        static_cast<int64_t>(box[2] * h), static_cast<int64_t>(box[3] * w)});
    }
    if (!boxes_.empty()) return;
    if (!use_image_) {
      throw InvalidArgument(
          "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if "
          "you wish to not provide any bounding boxes.");
    }
    boxes_.push_back({0, 0, height, width});
  }

  static void WriteIndices(Tensor& out, std::initializer_list<int64_t> values) {
    int i = 0;
    for (const int64_t value : values) {
      switch (out.dtype()) {
        case DType::kInt32:
          out.data<int32_t>()[i++] = static_cast<int32_t>(value);
          break;
        case DType::kInt64:
          out.data<int64_t>()[i++] = value;
          break;
        case DType::kInt16:
          out.data<int16_t>()[i++] = static_cast<int16_t>(value);
          break;
        case DType::kInt8:
          out.data<int8_t>()[i++] = static_cast<int8_t>(value);
          break;
        default:
          out.data<uint8_t>()[i++] = static_cast<uint8_t>(value);
      }
    }
  }

  std::optional<RandomStream> stream_;
  RandomCropOptions options_;
  bool use_image_ = false;
  std::vector<PixelBox> boxes_;
};

}  // namespace

void RegisterBoxesCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("DrawBoundingBoxes").Make<DrawKernel>());
  registry.Add(KernelDef("DrawBoundingBoxesV2").Make<DrawKernel>());
  for (const char* op : {"SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2",
                         "StatelessSampleDistortedBoundingBox"}) {
    registry.Add(KernelDef(op).Make<SampleKernel>());
  }
}

}  // namespace sextant
