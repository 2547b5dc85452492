// TapTable: which input pixels, with what weights, make an output pixel along one side. Resizing
// with separable kernels is one such table for the rows and one for the columns; its gradient is
// the same with the tables transposed. The resizing ops and data/image_functions.h share them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sextant {

// How coordinates of the output map to the input along one side.
struct ResizeMode {
  bool align_corners = false;       // the centres of the corner pixels coincide
  bool half_pixel_centers = false;  // pixels are squares, not points

  // Throws INVALID_ARGUMENT when both are set.
  void Check() const;
  // Input pixels to one output pixel.
  float Scale(int64_t in, int64_t out) const {
    return align_corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                    : static_cast<float>(in) / static_cast<float>(out);
  }
  // The place of output pixel i in the input.
  float Place(int64_t i, float scale) const {
    return half_pixel_centers ? (static_cast<float>(i) + 0.5F) * scale - 0.5F
                              : static_cast<float>(i) * scale;
  }
};

// Output pixel i is the sum of weight[k] * input[index[k]] for k in [start[i], start[i + 1]).
struct TapTable {
  std::vector<int64_t> start = {0};
  std::vector<int32_t> index;
  std::vector<float> weight;

  int64_t size() const { return static_cast<int64_t>(start.size()) - 1; }
  void Add(int64_t input, float w) {
    index.push_back(static_cast<int32_t>(input));
    weight.push_back(w);
  }
  void EndPixel() { start.push_back(static_cast<int64_t>(index.size())); }
  // For gradients: which output pixels each of the "num_inputs" input pixels went to.
  TapTable Transposed(int64_t num_inputs) const;
};

// Row y of an image [height, width, channels] resampled to [rows.size(), columns.size(), channels]:
// to[x] = sum over the taps of y and x of weight_y * weight_x * image[ty, tx]. "line" is scratch.
void ResampleRow(const float* image, int64_t width, int64_t channels, const TapTable& rows,
                 const TapTable& columns, int64_t y, std::vector<float>* line, float* to);

TapTable BilinearTaps(int64_t in, int64_t out, const ResizeMode& mode);
TapTable BicubicTaps(int64_t in, int64_t out, const ResizeMode& mode);
TapTable AreaTaps(int64_t in, int64_t out, const ResizeMode& mode);

// A sampling kernel by its name, e.g. "lanczos3".
class SamplingKernel {
 public:
  // Throws INVALID_ARGUMENT on a name that is not known.
  explicit SamplingKernel(const std::string& name);
  float radius() const { return radius_; }
  float operator()(float distance) const { return function_(distance); }

 private:
  float radius_;
  float (*function_)(float);
};
// Output pixel x samples the input at (x + 0.5 - translation) / scale; places outside have no taps.
// REQUIRES: scale > 0.
TapTable SampledTaps(int64_t in, int64_t out, const SamplingKernel& kernel, float scale,
                     float translation, bool antialias);

}  // namespace sextant
