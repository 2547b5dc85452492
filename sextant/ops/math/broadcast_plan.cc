#include "sextant/ops/math/broadcast_plan.h"

#include <algorithm>
#include <string>

#include "sextant/base/error.h"

namespace sextant {
namespace {

std::string Join(const Shape* const* operands, int count) {
  std::string text = operands[0]->ToString();
  for (int k = 1; k < count; ++k) text += " vs. " + operands[k]->ToString();
  return text;
}

// The operand's size in dimension i of an output of this rank.
int64_t AlignedDim(const Shape& shape, int i, int rank) {
  const int position = i - (rank - shape.rank());
  return position < 0 ? 1 : shape[position];
}

}  // namespace

BroadcastPlan::BroadcastPlan(const Shape& a, const Shape& b) {
  const Shape* operands[] = {&a, &b};
  Build(operands, 2);
}

BroadcastPlan::BroadcastPlan(const Shape& a, const Shape& b, const Shape& c) {
  const Shape* operands[] = {&a, &b, &c};
  Build(operands, 3);
}

bool BroadcastPlan::BuildFlat(const Shape* const* operands, int count) {
  const Shape* largest = operands[0];
  for (int k = 1; k < count; ++k) {
    const Shape& own = *operands[k];
    const bool larger = largest->num_elements() == 1 && own.num_elements() != 1;
    if (larger ||
        (own.num_elements() == 1 && largest->num_elements() == 1 && own.rank() > largest->rank())) {
      largest = &own;
    }
  }
  for (int k = 0; k < count; ++k) {
    const Shape& own = *operands[k];
    const bool single = own.num_elements() == 1 && own.rank() <= largest->rank();
    if (!single && own != *largest) return false;
  }
  output_ = *largest;
  row_size_ = sizes_[0] = output_.num_elements();
  num_rows_ = row_size_ == 0 ? 0 : 1;
  for (int k = 0; k < count; ++k) {
    strides_[k][0] = operands[k]->num_elements() == 1 && row_size_ != 1 ? 0 : 1;
  }
  return true;
}

void BroadcastPlan::Build(const Shape* const* operands, int count) {
  if (BuildFlat(operands, count)) return;
  int rank = 0;
  for (int k = 0; k < count; ++k) {
    if (operands[k]->rank() > rank) {
      rank = operands[k]->rank();
      output_ = *operands[k];
    }
  }
  bool repeated[kMaxOperands][kMaxLoops] = {};
  int loops = 0;
  for (int i = 0; i < rank; ++i) {
    int64_t size = 1;
    for (int k = 0; k < count; ++k) {
      const int64_t own = AlignedDim(*operands[k], i, rank);
      if (own == 1) continue;
      if (size != 1 && own != size)
        throw InvalidArgument("Incompatible shapes: {}", Join(operands, count));
      size = own;
    }
    if (output_[i] != size) output_.set_dim(i, size);
    if (size == 1) continue;
    bool merge = loops > 0;
    bool here[kMaxOperands] = {};
    for (int k = 0; k < count; ++k) {
      here[k] = AlignedDim(*operands[k], i, rank) == 1;
      merge = merge && here[k] == repeated[k][loops - 1];
    }
    if (merge) {
      sizes_[loops - 1] *= size;
      continue;
    }
    if (loops == kMaxLoops) {
      throw Unimplemented("Broadcast between {} is not supported yet.", Join(operands, count));
    }
    for (int k = 0; k < count; ++k) repeated[k][loops] = here[k];
    sizes_[loops++] = size;
  }
  if (loops == 0) sizes_[loops++] = 1;
  num_loops_ = loops;
  ComputeStrides(repeated, count);
  row_size_ = sizes_[loops - 1];
  num_rows_ = row_size_ == 0 ? 0 : output_.num_elements() / row_size_;
}

void BroadcastPlan::ComputeStrides(const bool (*repeated)[kMaxLoops], int count) {
  for (int k = 0; k < count; ++k) {
    int64_t stride = 1;
    for (int i = num_loops_ - 1; i >= 0; --i) {
      strides_[k][i] = repeated[k][i] ? 0 : stride;
      if (!repeated[k][i]) stride *= sizes_[i];
    }
  }
}

}  // namespace sextant
