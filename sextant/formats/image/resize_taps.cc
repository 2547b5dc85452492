#include "sextant/formats/image/resize_taps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sextant/base/error.h"

namespace sextant {
namespace {

// Sums of weights too small to divide by.
constexpr float kTiny = 1000 * std::numeric_limits<float>::min();

constexpr int kCubicSteps = 1024;  // positions between two pixels are rounded to these

// Weight of a pixel at "distance" in a cubic spline with parameter a.
float Cubic(float a, float distance) {
  const float x = distance;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

template <int radius>
float Lanczos(float x) {
  constexpr float kPi = std::numbers::pi_v<float>;
  if (x > radius) return 0;
  if (x <= 1e-3F) return 1;
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}
float Gaussian(float x) { return x >= 1.5F ? 0 : std::exp(-x * x / (2 * 0.5F * 0.5F)); }
float Box(float x) { return x < 0.5F ? 1 : x == 0.5F ? 0.5F : 0; }
float Triangle(float x) { return x < 1 ? 1 - x : 0; }
float KeysCubic(float x) { return x >= 2 ? 0 : Cubic(-0.5F, x); }
float MitchellCubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return (((-7.0F / 18.0F) * x + 2.0F) * x - 10.0F / 3.0F) * x + 16.0F / 9.0F;
  return ((7.0F / 6.0F) * x - 2.0F) * x * x + 8.0F / 9.0F;
}

}  // namespace

TapTable TapTable::Transposed(int64_t num_inputs) const {
  TapTable result;
  result.start.assign(static_cast<size_t>(num_inputs) + 1, 0);
  result.index.resize(index.size());
  result.weight.resize(index.size());
  for (const int32_t i : index) ++result.start[i + 1];
  for (int64_t i = 0; i < num_inputs; ++i) result.start[i + 1] += result.start[i];
  std::vector<int64_t> next(result.start.begin(), result.start.end() - 1);
  for (int64_t out = 0; out < size(); ++out) {
    for (int64_t k = start[out]; k < start[out + 1]; ++k) {
      const int64_t place = next[index[k]]++;
      result.index[place] = static_cast<int32_t>(out);
      result.weight[place] = weight[k];
    }
  }
  return result;
}

void ResizeMode::Check() const {
  if (align_corners && half_pixel_centers) {
    throw InvalidArgument("If half_pixel_centers is True, align_corners must be False.");
  }
}

void ResampleRow(const float* image, int64_t width, int64_t channels, const TapTable& rows,
                 const TapTable& columns, int64_t y, std::vector<float>* line, float* to) {
  const int64_t row = width * channels;
  line->assign(static_cast<size_t>(row), 0.0F);
  float* const sums = line->data();
  for (int64_t k = rows.start[y]; k < rows.start[y + 1]; ++k) {
    const float* source = image + rows.index[k] * row;
    const float weight = rows.weight[k];
    for (int64_t j = 0; j < row; ++j) sums[j] += weight * source[j];
  }
  std::fill_n(to, columns.size() * channels, 0.0F);
  for (int64_t x = 0; x < columns.size(); ++x, to += channels) {
    for (int64_t k = columns.start[x]; k < columns.start[x + 1]; ++k) {
      const float* source = sums + columns.index[k] * channels;
      const float weight = columns.weight[k];
      for (int64_t c = 0; c < channels; ++c) to[c] += weight * source[c];
    }
  }
}

TapTable BilinearTaps(int64_t in, int64_t out, const ResizeMode& mode) {
  TapTable table;
  const float scale = mode.Scale(in, out);
  for (int64_t i = 0; i < out; ++i, table.EndPixel()) {
    const float place = mode.Place(i, scale), below = std::floor(place);
    const int64_t upper = std::min(static_cast<int64_t>(std::ceil(place)), in - 1);
    const int64_t lower = std::min(std::max(static_cast<int64_t>(below), int64_t{0}), upper);
    const float part = place - below;
    if (lower == upper) {
      table.Add(lower, 1);
    } else {
      table.Add(lower, 1 - part);
      table.Add(upper, part);
    }
  }
  return table;
}

// With half-pixel centres pixels beyond the edge count nothing and the others the more, otherwise
// the pixel at the edge stands for them.
TapTable BicubicTaps(int64_t in, int64_t out, const ResizeMode& mode) {
  TapTable table;
  const float scale = mode.Scale(in, out), a = mode.half_pixel_centers ? -0.5F : -0.75F;
  for (int64_t i = 0; i < out; ++i, table.EndPixel()) {
    const float place = mode.Place(i, scale), below = std::floor(place);
    const auto first = static_cast<int64_t>(below) - 1;
    const float part = static_cast<float>(std::lrint((place - below) * kCubicSteps)) / kCubicSteps;
    const float distances[] = {1 + part, part, 1 - part, 2 - part};
    float weights[4], sum = 0;
    for (int k = 0; k < 4; ++k) {
      const bool inside = first + k >= 0 && first + k < in;
      weights[k] = inside || !mode.half_pixel_centers ? Cubic(a, distances[k]) : 0;
      sum += weights[k];
    }
    const float factor = mode.half_pixel_centers && std::abs(sum) >= kTiny ? 1 / sum : 1;
    for (int k = 0; k < 4; ++k) {
      table.Add(std::clamp<int64_t>(first + k, 0, in - 1), weights[k] * factor);
    }
  }
  return table;
}

TapTable AreaTaps(int64_t in, int64_t out, const ResizeMode& mode) {
  TapTable table;
  const float scale = mode.Scale(in, out);
  for (int64_t i = 0; i < out; ++i, table.EndPixel()) {
    const float from = static_cast<float>(i) * scale, to = static_cast<float>(i + 1) * scale;
    const auto end = static_cast<int64_t>(std::ceil(to));
    for (auto k = static_cast<int64_t>(std::floor(from)); k < end; ++k) {
      const auto left = static_cast<float>(k), right = static_cast<float>(k + 1);
      const float covered =
          left < from ? (right > to ? scale : right - from) : (right > to ? to - left : 1.0F);
      table.Add(std::clamp<int64_t>(k, 0, in - 1), covered / scale);
    }
  }
  return table;
}

SamplingKernel::SamplingKernel(const std::string& name) {
  struct Named {
    const char* name;
    float radius;
    float (*function)(float);
  };
  static constexpr Named kKernels[] = {
      {"lanczos1", 1, Lanczos<1>},
      {"lanczos3", 3, Lanczos<3>},
      {"lanczos5", 5, Lanczos<5>},
      {"gaussian", 1.5F, Gaussian},
      {"box", 1, Box},
      {"triangle", 1, Triangle},
      {"keyscubic", 2, KeysCubic},
      {"mitchellcubic", 2, MitchellCubic},
  };
  for (const Named& kernel : kKernels) {
    if (name != kernel.name) continue;
    radius_ = kernel.radius;
    function_ = kernel.function;
    return;
  }
  throw InvalidArgument("Unrecognized kernel type: {}", name);
}

TapTable SampledTaps(int64_t in, int64_t out, const SamplingKernel& kernel, float scale,
                     float translation, bool antialias) {
  TapTable table;
  const float inverse = 1 / scale, shift = -inverse * translation;
  const float stretch = antialias ? std::max(inverse, 1.0F) : 1.0F;
  const float radius = kernel.radius() * stretch, size = static_cast<float>(in);
  for (int64_t i = 0; i < out; ++i, table.EndPixel()) {
    const float place = (static_cast<float>(i) + 0.5F) * inverse + shift;
    if (!(place >= 0 && place <= size)) continue;
    const auto pixel = [&](float at) {
      return std::min(static_cast<int64_t>(std::clamp(at, 0.0F, size)), in - 1);
    };
    const int64_t begin = pixel(std::ceil(place - radius - 0.5F));
    const int64_t end = pixel(std::floor(place + radius - 0.5F));
    const size_t first = table.weight.size();
    float sum = 0;
    for (int64_t k = begin; k <= end; ++k) {
      const float w = kernel(std::abs((static_cast<float>(k) + 0.5F - place) / stretch));
      sum += w;
      table.Add(k, w);
    }
    const float factor = std::abs(sum) >= kTiny ? 1 / sum : 0;
    for (size_t k = first; k < table.weight.size(); ++k) table.weight[k] *= factor;
  }
  return table;
}

}  // namespace sextant
