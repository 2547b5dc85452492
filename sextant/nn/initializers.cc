#include "sextant/nn/initializers.h"

#include <cmath>

#include "sextant/base/error.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/linalg/qr.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/matrix_diag.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/random/random.h"

namespace sextant::initializers {
namespace {

struct Fans {
  double in = 1, out = 1;
};

Fans FansOf(const Shape& shape) {
  const int rank = shape.rank();
  if (rank == 0) return {};
  if (rank == 1) return {static_cast<double>(shape.dim(0)), static_cast<double>(shape.dim(0))};
  double window = 1;
  for (int i = 0; i < rank - 2; ++i) window *= static_cast<double>(shape.dim(i));
  return {window * static_cast<double>(shape.dim(rank - 2)),
          window * static_cast<double>(shape.dim(rank - 1))};
}

// What is left of a standard normal's standard deviation when it is cut at two of them.
constexpr double kTruncatedStddev = .87962566103423978;

// A scalar of the type.
Output Scalar(double value, DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return Const(Tensor(static_cast<float>(value)));
    case DType::kDouble:
      return Const(Tensor(value));
    case DType::kInt32:
      return Const(Tensor(static_cast<int32_t>(value)));
    case DType::kInt64:
      return Const(Tensor(static_cast<int64_t>(value)));
    default:
      return Cast(Const(Tensor(value)), dtype);
  }
}

Output Filled(const Shape& shape, Output value) {
  return Fill(Const(Tensor::FromSpan<int64_t>(Shape{shape.rank()}, shape.dims()), "shape"), value);
}

Output Uniform(const Shape& shape, DType dtype, double min, double max, Seed seed) {
  if (IsFloating(dtype)) {
    return sextant::RandomUniform(shape, {.min = min, .max = max, .dtype = dtype, .seed = seed});
  }
  return RandomUniformInt(shape, static_cast<int64_t>(min), static_cast<int64_t>(max),
                          {.dtype = dtype, .seed = seed});
}

}  // namespace

Initializer Constant(double value) {
  return [value](const Shape& shape, DType dtype) { return Filled(shape, Scalar(value, dtype)); };
}

Initializer Zeros() {
  return [](const Shape& shape, DType dtype) { return sextant::Zeros(shape, dtype); };
}

Initializer Ones() {
  return [](const Shape& shape, DType dtype) { return sextant::Ones(shape, dtype); };
}

Initializer Value(Tensor value) {
  return [value = std::move(value)](const Shape& shape, DType dtype) {
    const Output constant = Const(value.Reshaped(shape));
    return value.dtype() == dtype ? constant : Cast(constant, dtype);
  };
}

Initializer RandomUniform(double min, double max, Seed seed) {
  return [=](const Shape& shape, DType dtype) { return Uniform(shape, dtype, min, max, seed); };
}

Initializer RandomNormal(double mean, double stddev, Seed seed) {
  return [=](const Shape& shape, DType dtype) {
    return sextant::RandomNormal(shape,
                                 {.mean = mean, .stddev = stddev, .dtype = dtype, .seed = seed});
  };
}

Initializer TruncatedNormal(double mean, double stddev, Seed seed) {
  return [=](const Shape& shape, DType dtype) {
    return sextant::TruncatedNormal(shape,
                                    {.mean = mean, .stddev = stddev, .dtype = dtype, .seed = seed});
  };
}

Initializer VarianceScaling(const VarianceScalingOptions& options) {
  if (options.scale <= 0) {
    throw InvalidArgument("VarianceScaling needs a positive scale, got {}", options.scale);
  }
  return [options](const Shape& shape, DType dtype) {
    const Fans fans = FansOf(shape);
    double fan = 0;
    if (options.mode == "fan_in") {
      fan = fans.in;
    } else if (options.mode == "fan_out") {
      fan = fans.out;
    } else if (options.mode == "fan_avg") {
      fan = (fans.in + fans.out) / 2;
    } else {
      throw InvalidArgument("VarianceScaling: mode '{}' is not fan_in, fan_out or fan_avg",
                            options.mode);
    }
    const double variance = options.scale / std::max(1.0, fan);
    if (options.distribution == "uniform") {
      const double limit = std::sqrt(3 * variance);
      return Uniform(shape, dtype, -limit, limit, options.seed);
    }
    const bool truncated =
        options.distribution == "truncated_normal" || options.distribution == "normal";
    if (!truncated && options.distribution != "untruncated_normal") {
      throw InvalidArgument(
          "VarianceScaling: distribution '{}' is not truncated_normal, untruncated_normal or "
          "uniform",
          options.distribution);
    }
    const double stddev = std::sqrt(variance);
    if (!truncated) return RandomNormal(0, stddev, options.seed)(shape, dtype);
    return TruncatedNormal(0, stddev / kTruncatedStddev, options.seed)(shape, dtype);
  };
}

Initializer GlorotUniform(Seed seed) {
  return VarianceScaling({.mode = "fan_avg", .distribution = "uniform", .seed = seed});
}
Initializer GlorotNormal(Seed seed) { return VarianceScaling({.mode = "fan_avg", .seed = seed}); }
Initializer HeUniform(Seed seed) {
  return VarianceScaling({.scale = 2, .distribution = "uniform", .seed = seed});
}
Initializer HeNormal(Seed seed) { return VarianceScaling({.scale = 2, .seed = seed}); }
Initializer LecunUniform(Seed seed) {
  return VarianceScaling({.distribution = "uniform", .seed = seed});
}
Initializer LecunNormal(Seed seed) { return VarianceScaling({.seed = seed}); }

Initializer UniformUnitScaling(double factor, Seed seed) {
  return [=](const Shape& shape, DType dtype) {
    double inputs = 1;
    for (int i = 0; i + 1 < shape.rank(); ++i) inputs *= static_cast<double>(shape.dim(i));
    const double limit = std::sqrt(3 / std::max(1.0, inputs)) * factor;
    return Uniform(shape, dtype, -limit, limit, seed);
  };
}

Initializer Orthogonal(double gain, Seed seed) {
  return [=](const Shape& shape, DType dtype) {
    if (shape.rank() < 2) {
      throw InvalidArgument("the orthogonal initializer needs at least two dimensions, got {}",
                            shape.ToString());
    }
    const int64_t columns = shape.dim(shape.rank() - 1);
    const int64_t rows = columns == 0 ? 0 : shape.num_elements() / columns;
    const Shape flat{std::max(rows, columns), std::min(rows, columns)};
    const auto [q, r] = Qr(sextant::RandomNormal(flat, {.dtype = dtype, .seed = seed}));
    // The signs of R's diagonal make the matrix uniformly distributed.
    Output matrix = q * Sign(MatrixDiagPart(r));
    if (rows < columns) matrix = Transpose(matrix, {1, 0});
    return Scalar(gain, dtype) *
           Reshape(matrix, std::vector<int64_t>(shape.dims().begin(), shape.dims().end()));
  };
}

Initializer Identity(double gain) {
  return [=](const Shape& shape, DType dtype) {
    if (shape.rank() != 2) {
      throw InvalidArgument("the identity initializer makes matrices, got {}", shape.ToString());
    }
    const Output diagonal =
        Filled(Shape{std::min(shape.dim(0), shape.dim(1))}, Scalar(gain, dtype));
    return MatrixSetDiag(sextant::Zeros(shape, dtype), diagonal);
  };
}

}  // namespace sextant::initializers
