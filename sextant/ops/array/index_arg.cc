#include "sextant/ops/array/index_arg.h"

#include <algorithm>
#include <limits>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"

namespace sextant {

DType IndexArg::dtype() const {
  if (output_) return output_.dtype();
  const auto fits = [](int64_t v) {
    return v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
  };
  return std::all_of(values_.begin(), values_.end(), fits) ? DType::kInt32 : DType::kInt64;
}

Output IndexArg::ToOutput(DType dtype) const {
  if (dtype == DType::kInvalid) dtype = this->dtype();
  if (output_) {
    if (output_.dtype() != dtype) {
      throw InvalidArgument("'{}' is of type {} where {} is needed", output_.name(),
                            DTypeName(output_.dtype()), DTypeName(dtype));
    }
    return output_;
  }
  if (!scalar_) return ConstInts(values_, dtype);
  if (dtype == DType::kInt64) return Const(Tensor(values_[0]));
  return Const(Tensor(static_cast<int32_t>(values_[0])));
}

Output IndexArg::ToVector(DType dtype) const {
  if (output_) return ToOutput(dtype);
  return ConstInts(values_, dtype == DType::kInvalid ? this->dtype() : dtype);
}

DType IndexArg::CommonType(std::span<const IndexArg* const> args) {
  DType common = DType::kInt32;
  for (const IndexArg* arg : args) {
    if (arg->output_) return arg->dtype();
    if (arg->dtype() == DType::kInt64) common = DType::kInt64;
  }
  return common;
}

}  // namespace sextant
