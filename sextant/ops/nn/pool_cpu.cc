#include "sextant/ops/nn/pool_kernel.h"

namespace sextant {

// Ops on images and on volumes alike.
void RegisterPoolCpu(KernelRegistry& registry) {
  RegisterMaxPoolCpu(registry);
  RegisterArgmaxPoolCpu(registry);
  RegisterAvgPoolCpu(registry);
}

}  // namespace sextant
