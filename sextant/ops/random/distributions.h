// Tensors filled from a Philox stream, with the bits TensorFlow gives for the same stream.
//
// Elements are made in groups whose place in the stream follows from their index alone, so the
// result does not depend on the number of threads.
#pragma once

#include "sextant/base/philox.h"
#include "sextant/device/kernel.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

// Numbers of dtype half, bfloat16, float or double in [0, 1).
void FillUniform(KernelContext& ctx, const Philox& start, Tensor& out);
// Standard normal ones (Box-Muller), same dtypes.
void FillNormal(KernelContext& ctx, const Philox& start, Tensor& out);
// Standard normal ones in (-2, 2); others are drawn again.
void FillTruncatedNormal(KernelContext& ctx, const Philox& start, Tensor& out);
// Integers in [low, high), scalars of the dtype of "out": int32, int64, uint32 or uint64. Nothing
// is checked when "out" is empty, else low >= high throws INVALID_ARGUMENT.
void FillUniformInt(KernelContext& ctx, const Philox& start, const Tensor& low, const Tensor& high,
                    Tensor& out);
// Integers with all bits random; same dtypes.
void FillFullInt(KernelContext& ctx, const Philox& start, Tensor& out);

// Two standard normal numbers, the sine one first, from two or four words.
void BoxMuller(uint32_t x0, uint32_t x1, float* out);
void BoxMuller(const Philox::Block& block, double* out);

}  // namespace sextant
