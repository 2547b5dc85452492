#include "sextant/runtime/fed_predicates.h"

#include <algorithm>

namespace sextant {
namespace {

bool IsScalarBool(const Tensor& value) {
  return value.dtype() == DType::kBool && value.rank() == 0;
}

}  // namespace

bool IsFedPredicate(std::span<const Tensor> feeds, size_t i) {
  return IsScalarBool(feeds[i]) &&
         std::ranges::count_if(feeds.first(i), IsScalarBool) < kMaxFedPredicates;
}

uint64_t FedPredicates(std::span<const Tensor> feeds) {
  uint64_t bits = 0;
  int count = 0;
  for (size_t i = 0; i < feeds.size() && count < kMaxFedPredicates; ++i) {
    if (!IsScalarBool(feeds[i])) continue;
    bits = bits << 1 | (feeds[i].scalar<bool>() ? 1U : 0U);
    ++count;
  }
  return bits;
}

}  // namespace sextant
