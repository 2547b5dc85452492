// Einsum: sums of products by an equation such as "ij,jk->ik".
#pragma once

#include <string>
#include <vector>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Multiplies one or two tensors elementwise along dimensions with the same letter and sums over the
// letters that the output does not have: "ij,jk->ik" is a matrix product, "ii->i" a diagonal,
// "...ij->...ji" a transposition of the last two dimensions.
Output Einsum(const std::vector<Output>& inputs, const std::string& equation);

}  // namespace sextant

#pragma GCC visibility pop
