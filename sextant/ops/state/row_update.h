// RowUpdate: the arithmetic of the ops that change part of a variable.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/tensor/dtype.h"

namespace sextant {

enum class UpdateKind { kAssign, kAdd, kSub, kMul, kDiv, kMin, kMax };

// dst[i] = dst[i] op src[i] for i < count; src[0] for all when "broadcast". Rows do not overlap.
// Division by an integer zero throws INVALID_ARGUMENT.
using RowUpdate = void (*)(void* dst, const void* src, int64_t count, bool broadcast);

// Throws UNIMPLEMENTED when the kind is not defined for the type.
RowUpdate FindRowUpdate(UpdateKind kind, DType dtype);

// The types for which the kind is defined.
const std::vector<DType>& RowUpdateTypes(UpdateKind kind);

}  // namespace sextant
