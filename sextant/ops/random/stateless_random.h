// StatelessRandomUniform, StatelessRandomNormal, StatelessTruncatedNormal and others: random
// tensors that are a function of their inputs alone; equal seeds give equal numbers.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/random/random.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API StatelessRandomOptions {
  DType dtype = DType::kFloat;
};
// "seed" is a vector of two integers. Numbers in [0, 1), standard normal ones, and those without
// numbers of size 2 and more.
Output StatelessRandomUniform(const ShapeInput& shape, Output seed,
                              const StatelessRandomOptions& options = {});
Output StatelessRandomNormal(const ShapeInput& shape, Output seed,
                             const StatelessRandomOptions& options = {});
Output StatelessTruncatedNormal(const ShapeInput& shape, Output seed,
                                const StatelessRandomOptions& options = {});
// Integers in [min, max), scalars of one integer type.
Output StatelessRandomUniformInt(const ShapeInput& shape, Output seed, Output min, Output max);

}  // namespace sextant

#pragma GCC visibility pop
