// What must hold of every case of the tables. Each check gives an empty string, or says what is
// wrong; errors thrown while building or running the case are findings too.
#pragma once

#include <string>

#include "sextant/testing/op_case.h"

namespace sextant::testing {

// Inferred shapes agree with those of the results, whatever the shapes of the placeholders; with
// all inputs constant they are equal, unless the case is marked !noshape.
std::string CheckShapes(const OpCase& op_case);

// Gradients of a weighted sum of the double outputs with respect to the double inputs agree with
// central differences, whatever the placeholders say of their shapes. Ops that are not
// differentiable, and cases marked !nograd, pass.
std::string CheckGradients(const OpCase& op_case);

// The same bits with and without optimisations, and with constants for placeholders, also where
// element-wise ops follow.
std::string CheckOptimizations(const OpCase& op_case);

// The same bits with one thread as with all.
std::string CheckThreads(const OpCase& op_case);

// Where the inputs are double: the op also runs in every other type its kernels claim, and gives in
// the floating ones what it gives in double for the same values, up to rounding.
std::string CheckTypes(const OpCase& op_case);

}  // namespace sextant::testing
