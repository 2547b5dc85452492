#include "sextant/device/kernel_registry.h"
#include "sextant/ops/nn/conv_kernels.h"

namespace sextant {

void RegisterConv3DCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16>([&]<typename T>() {
    registry.Add(KernelDef("Conv3D").Type<T>("T").template Make<ConvKernel<T, 3>>());
    registry.Add(KernelDef("Conv3DBackpropInputV2")
                     .Type<T>("T")
                     .template Make<ConvBackpropInputKernel<T, 3>>());
    registry.Add(KernelDef("Conv3DBackpropFilterV2")
                     .Type<T>("T")
                     .template Make<ConvBackpropFilterKernel<T, 3>>());
  });
}

}  // namespace sextant
