#include <string>

#include "sextant/base/parse_number.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

template <typename T>
void Convert(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const std::string* const src = in.data<std::string>();
  T* const out = ctx.AllocateOutput(0, in.shape()).data<T>();
  ctx.ParallelFor(in.num_elements(), 30, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (!ParseNumber(src[i], &out[i])) {
        throw InvalidArgument("string_tensor{} is not a valid {}: \"{}\"",
                              CoordinatesText(in.shape(), i), DTypeName(DTypeOf<T>), src[i]);
      }
    }
  });
}

}  // namespace

void RegisterStringToNumberCpu(KernelRegistry& registry) {
  ForTypes<float, double, int32_t, int64_t>([&]<typename T>() {
    registry.Add(KernelDef("StringToNumber").Type<T>("out_type").Function(Convert<T>));
  });
}

}  // namespace sextant
