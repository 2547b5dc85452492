// What the graph side of this folder shares: tensors whose last two dimensions are matrices.
#pragma once

#include "sextant/graph/gradients.h"
#include "sextant/graph/output.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

// The matrices transposed and, when complex, conjugated.
Output Adjoint(Output x);
// x / (x^2 + tiny): 1 / x, but 0 where x = 0.
Output SafeReciprocal(Output x);
// x with the shape [..., 1, 1]: a number for each matrix of a batch.
Output PerMatrix(Output x);

// Of input i: the shape without the last two dimensions, unknown when the rank is.
PartialShape BatchShape(const ShapeContext& c, int i = 0);
// Of input i: rows (-2) or columns (-1), or kUnknown.
int64_t MatrixDim(const ShapeContext& c, int i, int from_end);
// batch + dims; unknown when the batch is.
PartialShape AppendDims(PartialShape batch, std::initializer_list<int64_t> dims);
// The one size two dimensions agree on. Throws INVALID_ARGUMENT when they differ.
int64_t MergeDims(int64_t a, int64_t b);
// Output 0 like input 0, which must be square matrices.
void SquareUnchanged(ShapeContext& c);

}  // namespace sextant
