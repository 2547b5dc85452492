// Ordered codes: byte strings that sort as the values they stand for. The parts of a sliced tensor
// have such keys in the index of a checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/formats/tensor_slice.h"

namespace sextant {

// These append to *dst.
void PutOrderedNumber(std::string* dst, uint64_t value);
void PutOrderedSigned(std::string* dst, int64_t value);
void PutOrderedString(std::string* dst, std::string_view value);

// The key of one part of a tensor. It begins with a zero byte, and names of tensors do not.
std::string SliceKey(std::string_view tensor_name, const TensorSlice& slice);

}  // namespace sextant
