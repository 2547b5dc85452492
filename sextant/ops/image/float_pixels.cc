#include "sextant/ops/image/float_pixels.h"

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant {
namespace {

template <typename F>
void WithRealType(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kInt8:
      return f.template operator()<int8_t>();
    case DType::kUInt8:
      return f.template operator()<uint8_t>();
    case DType::kInt16:
      return f.template operator()<int16_t>();
    case DType::kUInt16:
      return f.template operator()<uint16_t>();
    case DType::kInt32:
      return f.template operator()<int32_t>();
    case DType::kInt64:
      return f.template operator()<int64_t>();
    case DType::kHalf:
      return f.template operator()<Half>();
    case DType::kBFloat16:
      return f.template operator()<BFloat16>();
    case DType::kFloat:
      return f.template operator()<float>();
    case DType::kDouble:
      return f.template operator()<double>();
    default:
      throw InvalidArgument("pixels cannot be of type {}", DTypeName(dtype));
  }
}

}  // namespace

const float* FloatPixels(const Tensor& image, std::vector<float>* scratch) {
  if (image.dtype() == DType::kFloat) return image.data<float>();
  scratch->resize(static_cast<size_t>(image.num_elements()));
  WithRealType(image.dtype(), [&]<typename T>() {
    std::transform(image.data<T>(), image.data<T>() + image.num_elements(), scratch->data(),
                   [](T value) { return static_cast<float>(value); });
  });
  return scratch->data();
}

float* FloatSums(Tensor& out, std::vector<float>* scratch) {
  if (out.dtype() == DType::kFloat) {
    std::fill_n(out.data<float>(), out.num_elements(), 0.0F);
    return out.data<float>();
  }
  scratch->assign(static_cast<size_t>(out.num_elements()), 0.0F);
  return scratch->data();
}

void StoreSums(const std::vector<float>& scratch, Tensor& out) {
  if (out.dtype() == DType::kFloat) return;
  WithRealType(out.dtype(), [&]<typename T>() {
    std::transform(scratch.begin(), scratch.end(), out.data<T>(),
                   [](float value) { return static_cast<T>(value); });
  });
}

std::vector<DType> PixelTypes() {
  return {DType::kInt8,  DType::kUInt8, DType::kInt16,    DType::kUInt16, DType::kInt32,
          DType::kInt64, DType::kHalf,  DType::kBFloat16, DType::kFloat,  DType::kDouble};
}

}  // namespace sextant
