#include "sextant/device/kernel_registry.h"
#include "sextant/ops/nn/conv_kernels.h"

namespace sextant {

void RegisterConvCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int32_t>([&]<typename T>() {
    registry.Add(KernelDef("Conv2D").Type<T>("T").template Make<ConvKernel<T, 2>>());
    registry.Add(KernelDef("Conv2DBackpropInput")
                     .Type<T>("T")
                     .template Make<ConvBackpropInputKernel<T, 2>>());
  });
  ForTypes<float, double, Half, BFloat16>([&]<typename T>() {
    registry.Add(KernelDef("Conv2DBackpropFilter")
                     .Type<T>("T")
                     .template Make<ConvBackpropFilterKernel<T, 2>>());
  });
}

}  // namespace sextant
