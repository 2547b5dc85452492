// Initializers: how the initial value of a variable is made. Each is a function that builds a
// tensor of a shape and type in the current graph; numbers are TensorFlow's for the same seeds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/tensor/dtype.h"
#include "sextant/tensor/shape.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

using Initializer = std::function<Output(const Shape& shape, DType dtype)>;

namespace initializers {

using Seed = std::optional<int64_t>;

Initializer Zeros();
Initializer Ones();
// Every element "value", cast to the variable's type.
Initializer Constant(double value);
// The elements of "value", which must have as many as the variable.
Initializer Value(Tensor value);
Initializer RandomUniform(double min = -0.05, double max = 0.05, Seed seed = {});
Initializer RandomNormal(double mean = 0, double stddev = 0.05, Seed seed = {});
// Redrawn beyond two standard deviations.
Initializer TruncatedNormal(double mean = 0, double stddev = 0.05, Seed seed = {});

struct SEXTANT_API VarianceScalingOptions {
  double scale = 1;
  std::string mode = "fan_in";                    // fan_in, fan_out, fan_avg
  std::string distribution = "truncated_normal";  // also uniform, untruncated_normal
  Seed seed = {};
};
// Variance scale / fan. The fans of a kernel [..., in, out] count its window too.
Initializer VarianceScaling(const VarianceScalingOptions& options = {});
Initializer GlorotUniform(Seed seed = {});  // limit sqrt(6 / (fan_in + fan_out))
Initializer GlorotNormal(Seed seed = {});
Initializer HeUniform(Seed seed = {});
Initializer HeNormal(Seed seed = {});
Initializer LecunUniform(Seed seed = {});
Initializer LecunNormal(Seed seed = {});
// Uniform within ±sqrt(3 / elements per output) * factor: the default of TensorFlow 0.x.
Initializer UniformUnitScaling(double factor = 1, Seed seed = {});
// Rows or columns of a random orthogonal matrix, times gain. At least two dimensions.
Initializer Orthogonal(double gain = 1, Seed seed = {});
Initializer Identity(double gain = 1);

}  // namespace initializers
}  // namespace sextant

#pragma GCC visibility pop
