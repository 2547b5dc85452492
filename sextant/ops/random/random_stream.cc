#include "sextant/ops/random/random_stream.h"

#include "sextant/device/resource_manager.h"

namespace sextant {

Philox RandomStream::Reserve(KernelContext& ctx, uint64_t num_blocks) {
  if (!state_) {
    state_ = ctx.resources().LookupOrCreate<RandomState>(
        RandomState::kContainer, ctx.node_name(),
        [this] { return std::make_shared<RandomState>(Philox::ForSeeds(seed_, seed2_)); });
  }
  return state_->Reserve(num_blocks);
}

}  // namespace sextant
