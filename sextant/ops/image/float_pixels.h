// Pixels of any real type read and written as float, so that kernels are compiled once.
#pragma once

#include <vector>

#include "sextant/tensor/tensor.h"

namespace sextant {

// The elements of "image" as floats: its own when it is a float tensor, else copies in "scratch",
// which keeps its memory. Throws INVALID_ARGUMENT on types that are not real.
const float* FloatPixels(const Tensor& image, std::vector<float>* scratch);

// Where sums for "out" are collected: zeros in its own memory when it is a float tensor, else in
// "scratch"; StoreSums then rounds them to its type.
float* FloatSums(Tensor& out, std::vector<float>* scratch);
void StoreSums(const std::vector<float>& scratch, Tensor& out);

// Types that FloatPixels reads.
std::vector<DType> PixelTypes();

}  // namespace sextant
