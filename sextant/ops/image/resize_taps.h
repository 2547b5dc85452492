// TapTable: which input pixels, with what weights, make an output pixel along one side. Resizing
// with separable kernels is one such table for the rows and one for the columns; its gradient is
// the same with the tables transposed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/ops/image/resize_geometry.h"

namespace sextant {

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
