#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/formats/image/contrast.h"
#include "sextant/ops/image/float_pixels.h"

namespace sextant {
namespace {

// In [0, 1], where "sixth" is a sixth of a turn divided by the range of the colours.
template <typename T>
T Hue(const T* rgb, T largest, T sixth) {
  T hue;
  if (rgb[0] == largest) {
    hue = sixth * (rgb[1] - rgb[2]);
  } else if (rgb[1] == largest) {
    hue = sixth * (rgb[2] - rgb[0]) + T(2) / T(6);
  } else {
    hue = sixth * (rgb[0] - rgb[1]) + T(4) / T(6);
  }
  return hue < 0 ? hue + 1 : hue;
}

// How far red, green and blue are from the smallest to the largest colour at this hue.
template <typename T>
void HueWeights(T hue, T* weights) {
  const T h = hue * 6;
  weights[0] = std::clamp(std::abs(h - 3) - 1, T(0), T(1));
  weights[1] = std::clamp(2 - std::abs(h - 2), T(0), T(1));
  weights[2] = std::clamp(2 - std::abs(h - 4), T(0), T(1));
}

// As TensorFlow, from the last colour to the first, a NaN counting only where it is the last.
template <typename T>
T Largest(const T* rgb) {
  return std::max(rgb[2], std::max(rgb[1], rgb[0]));
}
template <typename T>
T Smallest(const T* rgb) {
  return std::min(rgb[2], std::min(rgb[1], rgb[0]));
}

template <typename T>
void RgbToHsv(const T* rgb, T* hsv) {
  const T largest = Largest(rgb);
  const T range = largest - Smallest(rgb);
  const T hue = range > 0 ? Hue(rgb, largest, 1 / range * (T(1) / T(6))) : 0;
  hsv[0] = hue;
  hsv[1] = largest > 0 ? range / largest : 0;
  hsv[2] = largest;
}

template <typename T>
void HsvToRgb(const T* hsv, T* rgb) {
  T weights[3];
  HueWeights(hsv[0], weights);
  const T saturation = hsv[1], value = hsv[2];
  for (int c = 0; c < 3; ++c) rgb[c] = (1 - saturation + saturation * weights[c]) * value;
}

// The hue circle has six sectors: in each, other channels are the largest, the middle and the
// smallest one. The middle one rises in even sectors and falls in odd ones.
constexpr int kSectors = 6;
struct Sector {
  int largest, middle, smallest;
};
constexpr Sector kSectorChannels[kSectors] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0},
                                              {2, 1, 0}, {2, 0, 1}, {0, 2, 1}};

// By comparisons in TensorFlow's order, which decide where a NaN goes.
int SectorOf(const float* rgb) {
  const float r = rgb[0], g = rgb[1], b = rgb[2];
  if (r < g) return b < r ? 1 : b > g ? 3 : 2;
  return b < g ? 0 : b > r ? 4 : 5;
}

void TurnHue(const float* rgb, float delta, float* to) {
  const int sector = SectorOf(rgb);
  const Sector& from = kSectorChannels[sector];
  const float largest = rgb[from.largest], smallest = rgb[from.smallest];
  float hue = 0;  // in sectors
  if (largest != smallest) {
    const float part = (rgb[from.middle] - smallest) / (largest - smallest);
    hue = static_cast<float>(sector) + (sector % 2 == 0 ? part : 1 - part);
  }
  hue += delta * kSectors;
  hue -= kSectors * std::floor(hue / kSectors);
  // The last one also where rounding leaves 6, and for NaN.
  const int turned = hue < kSectors - 1 ? static_cast<int>(hue) : kSectors - 1;
  const float part = hue - static_cast<float>(turned);
  const Sector& into = kSectorChannels[turned];
  to[into.largest] = largest;
  to[into.smallest] = smallest;
  to[into.middle] = smallest + (turned % 2 == 0 ? part : 1 - part) * (largest - smallest);
}

// As TensorFlow, to a gray where the hue is NaN or rounds to a whole turn.
void ScaleSaturation(const float* rgb, float scale, float* to) {
  const float largest = std::max(rgb[0], std::max(rgb[1], rgb[2]));
  const float range = largest - std::min(rgb[0], std::min(rgb[1], rgb[2]));
  const float hue = range <= 0 ? 0 : kSectors * Hue(rgb, largest, 1 / (6 * range));
  const float saturation = largest > 0 ? range / largest : 0;
  const float scaled = std::min(1.0F, std::max(0.0F, saturation * scale)) * largest;
  const float smallest = largest - scaled;
  std::fill_n(to, 3, smallest);
  if (!(hue < kSectors)) return;
  const int sector = static_cast<int>(hue);
  const float part = hue - static_cast<float>(sector);
  to[kSectorChannels[sector].largest] = scaled + smallest;
  to[kSectorChannels[sector].middle] = (sector % 2 == 0 ? part : 1 - part) * scaled + smallest;
}

bool HasColors(const Tensor& images) { return images.dim(images.rank() - 1) == 3; }
constexpr char kNoColors[] = "input must have 3 channels in its last dimension, got shape {}";
void CheckImages(const Tensor& images) {
  if (images.rank() < 3) {
    throw InvalidArgument("input must be at least 3-D, got shape {}", images.shape().ToString());
  }
}
float ScalarParameter(const Tensor& tensor, const char* what) {
  if (tensor.rank() != 0) {
    throw InvalidArgument("{} must be scalar: {}", what, tensor.shape().ToString());
  }
  return tensor.scalar<float>();
}

constexpr double kColorCost = 8;  // nanoseconds

// f(from, to) for each colour, in double for doubles and in float for all other types.
class ConvertKernel : public Kernel {
 public:
  ConvertKernel(void (*in_float)(const float*, float*), void (*in_double)(const double*, double*))
      : in_float_(in_float), in_double_(in_double) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& images = ctx.input(0);
    if (images.rank() < 1) throw InvalidArgument("input must be at least 1D");
    if (!HasColors(images)) throw FailedPrecondition(kNoColors, images.shape().ToString());
    Tensor& out = ctx.AllocateOutput(0, images.shape());
    if (images.dtype() == DType::kDouble) {
      return Convert(ctx, images.num_elements(), images.data<double>(), out.data<double>(),
                     in_double_);
    }
    const float* from = FloatPixels(images, &scratch_);
    float* to = out.dtype() == DType::kFloat ? out.data<float>() : scratch_.data();
    Convert(ctx, images.num_elements(), from, to, in_float_);
    StoreSums(scratch_, out);
  }

 private:
  template <typename T>
  static void Convert(KernelContext& ctx, int64_t elements, const T* from, T* to,
                      void (*f)(const T*, T*)) {
    ctx.ParallelFor(elements / 3, kColorCost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) f(from + 3 * i, to + 3 * i);
    });
  }

  void (*const in_float_)(const float*, float*);
  void (*const in_double_)(const double*, double*);
  std::vector<float> scratch_;
};

// f(from, parameter, to) for each colour.
class AdjustKernel : public Kernel {
 public:
  AdjustKernel(const char* parameter, void (*f)(const float*, float, float*))
      : parameter_(parameter), f_(f) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& images = ctx.input(0);
    CheckImages(images);
    if (!HasColors(images)) throw InvalidArgument(kNoColors, images.shape().ToString());
    const float parameter = ScalarParameter(ctx.input(1), parameter_);
    Tensor& out = ctx.AllocateOutput(0, images.shape());
    const float* from = FloatPixels(images, &scratch_);
    float* to = out.dtype() == DType::kFloat ? out.data<float>() : scratch_.data();
    ctx.ParallelFor(images.num_elements() / 3, 2 * kColorCost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) f_(from + 3 * i, parameter, to + 3 * i);
    });
    StoreSums(scratch_, out);
  }

 private:
  const char* const parameter_;
  void (*const f_)(const float*, float, float*);
  std::vector<float> scratch_;
};

// Both AdjustContrast ops: the old one has bounds at inputs 2 and 3 and gives floats.
class ContrastKernel : public Kernel {
 public:
  explicit ContrastKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& images = ctx.input(0);
    CheckImages(images);
    const float factor = ScalarParameter(ctx.input(1), "contrast_factor");
    const bool bounded = ctx.num_inputs() > 2;
    const float low = bounded ? ScalarParameter(ctx.input(2), "min_value") : 0;
    const float high = bounded ? ScalarParameter(ctx.input(3), "max_value") : 0;
    Tensor& out = ctx.AllocateOutput(0, images.shape());
    if (out.num_elements() == 0) return;
    const int rank = images.rank();
    const int64_t channels = images.dim(rank - 1);
    const int64_t pixels = images.dim(rank - 3) * images.dim(rank - 2);
    const float* from = FloatPixels(images, &scratch_);
    float* to = out.dtype() == DType::kFloat ? out.data<float>() : scratch_.data();
    const int64_t images_and_channels = images.num_elements() / pixels;
    const auto cost = static_cast<double>(2 * pixels);
    ctx.ParallelFor(images_and_channels, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i / channels * pixels * channels + i % channels;
        ScaleContrast(from + first, pixels, channels, factor, to + first);
        for (int64_t p = 0; bounded && p < pixels; ++p) {
          float& value = to[first + p * channels];
          value = std::max(std::min(value, high), low);
        }
      }
    });
    StoreSums(scratch_, out);
  }

 private:
  std::vector<float> scratch_;
};

}  // namespace

void RegisterColorCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("RGBToHSV").InPlace(0, 0).Make([](KernelInit&) {
    return std::make_unique<ConvertKernel>(RgbToHsv<float>, RgbToHsv<double>);
  }));
  registry.Add(KernelDef("HSVToRGB").InPlace(0, 0).Make([](KernelInit&) {
    return std::make_unique<ConvertKernel>(HsvToRgb<float>, HsvToRgb<double>);
  }));
  registry.Add(KernelDef("AdjustHue").InPlace(0, 0).Make([](KernelInit&) {
    return std::make_unique<AdjustKernel>("delta", TurnHue);
  }));
  registry.Add(KernelDef("AdjustSaturation").InPlace(0, 0).Make([](KernelInit&) {
    return std::make_unique<AdjustKernel>("scale", ScaleSaturation);
  }));
  registry.Add(KernelDef("AdjustContrast").Make<ContrastKernel>());
  registry.Add(KernelDef("AdjustContrastv2").Make<ContrastKernel>());
}

}  // namespace sextant
