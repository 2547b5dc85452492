// MatrixBandPart, MatrixDiag, MatrixDiagPart, MatrixSetDiag, Diag, DiagPart: diagonals and bands of
// matrices.
#pragma once

#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

// Element (i, j) of each matrix stays where i - j <= num_lower and j - i <= num_upper, else becomes
// 0. A negative number keeps all.
Output MatrixBandPart(Output x, const IndexArg& num_lower, const IndexArg& num_upper);

// Diagonal d of a matrix holds the elements (i, j) with j - i = d. A range k = {lowest, highest} of
// diagonals is stored as rows from the highest to the lowest, shorter ones padded at the side
// that "align" leaves: first word for the upper, second for the lower diagonals.
struct SEXTANT_API DiagonalOptions {
  IndexArg k = 0;
  std::string align = "RIGHT_LEFT";
};

// Matrices with these diagonals and zeros elsewhere; as small as possible, square if that is open.
Output MatrixDiag(Output diagonal, const DiagonalOptions& options = {});
// The diagonals of matrices; padded with zeros.
Output MatrixDiagPart(Output x, const DiagonalOptions& options = {});
// x with other diagonals.
Output MatrixSetDiag(Output x, Output diagonal, const DiagonalOptions& options = {});

// y[i..., i...] = diagonal[i...], zeros elsewhere.
Output Diag(Output diagonal);
// y[i...] = x[i..., i...]
Output DiagPart(Output x);

}  // namespace sextant

#pragma GCC visibility pop
