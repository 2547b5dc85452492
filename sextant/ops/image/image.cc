#include "sextant/ops/image/image.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/array/pad.h"
#include "sextant/ops/array/reverse.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/array/strided_slice.h"
#include "sextant/ops/control_flow/functional.h"
#include "sextant/ops/image/color.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/clip.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/random/random.h"

namespace sextant {
namespace {

// Dimensions in front of height.
int LeadingDims(Output image) {
  const PartialShape& shape = image.shape();
  if (!shape.rank_known() || (shape.rank() != 3 && shape.rank() != 4)) {
    throw InvalidArgument("an image must have 3 or 4 dimensions, got shape {}", shape.ToString());
  }
  return shape.rank() - 3;
}

Output Int(int64_t value) { return Const(Tensor(static_cast<int32_t>(value))); }

Output FlipAlong(Output image, int axis) { return Reverse(image, {LeadingDims(image) + axis}); }

Output RandomFlipAlong(Output image, int axis, const RandomImageOptions& options) {
  const Output flipped = FlipAlong(image, axis);
  if (LeadingDims(image) == 0) {
    const Output chance = RandomUniform(Shape(), {.seed = options.seed});
    return Cond(
        Less(chance, Const(Tensor(0.5F))), [&] { return std::vector{flipped}; },
        [&] { return std::vector{image}; })[0];
  }
  const Output batch = StridedSlice(ShapeOf(image), {SliceRange(0, 1)});
  const Output chance = RandomUniform(batch, {.seed = options.seed});
  const Output flip = Cast(Round(Reshape(chance, {-1, 1, 1, 1})), image.dtype());
  return flip * flipped + (ScalarLike(1, flip) - flip) * image;
}

// The size along dimension d, as a tensor when it is not known.
Output SizeAlong(Output image, int d) {
  const int64_t size = image.shape()[d];
  return size != PartialShape::kUnknown ? Int(size) : StridedSlice(ShapeOf(image), {d});
}

// [..., before, after, ...] for height and width.
Output PadBy(Output image, Output top, Output bottom, Output left, Output right) {
  const Output zero = Int(0);
  std::vector<Output> paddings(static_cast<size_t>(2 * LeadingDims(image)), zero);
  paddings.insert(paddings.end(), {top, bottom, left, right, zero, zero});
  return Pad(image, Reshape(Pack(paddings), {-1, 2}));
}

// "result" with the shape of "image" but for its height and width.
Output WithSize(Output result, Output image, int64_t height, int64_t width) {
  PartialShape shape = image.shape();
  const int lead = LeadingDims(image);
  shape.set_dim(lead, height);
  shape.set_dim(lead + 1, width);
  return EnsureShape(result, shape);
}

// The largest value of an integer type.
double MaxOf(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return 255;
    case DType::kInt8:
      return 127;
    case DType::kUInt16:
      return 65535;
    case DType::kInt16:
      return 32767;
    case DType::kInt32:
      return std::numeric_limits<int32_t>::max();
    case DType::kInt64:
      return static_cast<double>(std::numeric_limits<int64_t>::max());
    default:
      throw InvalidArgument("pixels cannot be of type {}", DTypeName(dtype));
  }
}
double MinOf(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kUInt16 ? 0 : -MaxOf(dtype) - 1;
}

// Floats as they are, integers as [0, 1].
Output AsFloatPixels(Output image) {
  const bool as_it_is = image.dtype() == DType::kFloat || image.dtype() == DType::kHalf;
  return as_it_is ? image : ConvertImageDtype(image, DType::kFloat);
}

// The bounds of the integer type, as far as "like" can hold them without leaving the type.
Output SaturateCast(Output x, DType dtype) {
  double low = MinOf(dtype), high = MaxOf(dtype);
  if (IsInteger(x.dtype())) {
    if (MinOf(x.dtype()) >= low && MaxOf(x.dtype()) <= high) return Cast(x, dtype);
    low = std::max(low, MinOf(x.dtype()));
    high = std::min(high, MaxOf(x.dtype()));
  } else if (x.dtype() == DType::kFloat && high > 16777216) {
    high = std::nextafter(static_cast<float>(high), 0.0F);
  }
  return Cast(ClipByValue(x, ScalarLike(low, x), ScalarLike(high, x)), dtype);
}

}  // namespace

Output FlipLeftRight(Output image) { return FlipAlong(image, 1); }
Output FlipUpDown(Output image) { return FlipAlong(image, 0); }
Output RandomFlipLeftRight(Output image, const RandomImageOptions& options) {
  return RandomFlipAlong(image, 1, options);
}
Output RandomFlipUpDown(Output image, const RandomImageOptions& options) {
  return RandomFlipAlong(image, 0, options);
}

Output CropToBoundingBox(Output image, int64_t y, int64_t x, int64_t height, int64_t width) {
  std::vector<int64_t> begin(static_cast<size_t>(LeadingDims(image)), 0), size(begin.size(), -1);
  begin.insert(begin.end(), {y, x, 0});
  size.insert(size.end(), {height, width, -1});
  return Slice(image, begin, size);
}

Output PadToBoundingBox(Output image, int64_t y, int64_t x, int64_t height, int64_t width) {
  const int lead = LeadingDims(image);
  const Output bottom = Int(height - y) - SizeAlong(image, lead);
  const Output right = Int(width - x) - SizeAlong(image, lead + 1);
  return WithSize(PadBy(image, Int(y), bottom, Int(x), right), image, height, width);
}

Output ResizeWithCropOrPad(Output image, int64_t height, int64_t width) {
  const int lead = LeadingDims(image);
  const Output zero = Int(0), two = Int(2), all = Int(-1);
  const Output wanted[] = {Int(height), Int(width)};
  std::vector<Output> begin(static_cast<size_t>(lead), zero), size(begin.size(), all);
  Output before[2], after[2];
  for (int i = 0; i < 2; ++i) {
    const Output have = SizeAlong(image, lead + i);
    begin.push_back(Maximum(FloorDiv(have - wanted[i], two), zero));
    const Output kept = Minimum(have, wanted[i]);
    size.push_back(kept);
    before[i] = Maximum(FloorDiv(wanted[i] - have, two), zero);
    after[i] = wanted[i] - before[i] - kept;
  }
  begin.push_back(zero);
  size.push_back(all);
  const Output part = Slice(image, Pack(begin), Pack(size));
  return WithSize(PadBy(part, before[0], after[0], before[1], after[1]), image, height, width);
}

Output RandomCrop(Output value, const std::vector<int64_t>& size,
                  const RandomImageOptions& options) {
  const Output wanted = ConstInts(size), shape = ShapeOf(value);
  const Output places = shape - wanted + Int(1);
  const Output any = RandomUniformInt(Shape{static_cast<int64_t>(size.size())}, 0,
                                      std::numeric_limits<int32_t>::max(), {.seed = options.seed});
  return Slice(value, FloorMod(any, places), wanted);
}

Output PerImageStandardization(Output image) {
  LeadingDims(image);
  const Output x = Cast(image, DType::kFloat);
  const Output centred = x - Mean(x, {-1, -2, -3}, {.keep_dims = true});
  const Output stddev = Sqrt(Mean(Square(centred), {-1, -2, -3}, {.keep_dims = true}));
  const Output count = Prod(StridedSlice(ShapeOf(image), {SliceRange(-3, std::nullopt)}), {0});
  return centred / Maximum(stddev, Rsqrt(Cast(count, DType::kFloat)));
}

Output AdjustBrightness(Output image, float delta) {
  const Output x = AsFloatPixels(image);
  return ConvertImageDtype(x + ScalarLike(delta, x), image.dtype(), {.saturate = true});
}

Output AdjustBrightness(Output image, Output delta) {
  const Output x = AsFloatPixels(image);
  return ConvertImageDtype(x + Cast(delta, x.dtype()), image.dtype(), {.saturate = true});
}

Output RandomBrightness(Output image, float max_delta, const RandomImageOptions& options) {
  if (!(max_delta >= 0)) {
    throw InvalidArgument("RandomBrightness: max_delta must be non-negative, got {}", max_delta);
  }
  return AdjustBrightness(
      image, RandomUniform(Shape(), {.min = -max_delta, .max = max_delta, .seed = options.seed}));
}

Output RandomContrast(Output image, float lower, float upper, const RandomImageOptions& options) {
  if (!(lower >= 0 && upper > lower)) {
    throw InvalidArgument("RandomContrast: there is no factor from {} up to {}", lower, upper);
  }
  const Output factor = RandomUniform(Shape(), {.min = lower, .max = upper, .seed = options.seed});
  return ConvertImageDtype(AdjustContrast(AsFloatPixels(image), factor), image.dtype(),
                           {.saturate = true});
}

Output ConvertImageDtype(Output image, DType dtype, const ConvertImageOptions& options) {
  const DType from = image.dtype();
  const auto cast = [&](Output x) {
    return options.saturate ? SaturateCast(x, dtype) : Cast(x, dtype);
  };
  if (dtype == from) return image;
  if (IsFloating(from) && IsFloating(dtype)) return Cast(image, dtype);
  if (IsFloating(dtype)) return Cast(image, dtype) * (1 / MaxOf(from));
  // Half a step more lets the cast, which cuts off, round.
  if (IsFloating(from)) return cast(image * (MaxOf(dtype) + 0.5));
  const double ratio = (MaxOf(from) + 1) / (MaxOf(dtype) + 1);
  if (ratio > 1) return cast(FloorDiv(image, ScalarLike(ratio, image)));
  const Output wide = cast(image);
  return wide * ScalarLike(1 / ratio, wide);
}

}  // namespace sextant
