// Functions of NumPy that make arrays, for values on the command line (python_literal.h).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/cli/python_literal.h"

namespace sextant::cli {

struct NumpyArguments {
  std::vector<PythonLiteral> positional;
  std::vector<std::pair<std::string, PythonLiteral>> named;
};

// np.zeros and so on; array.reshape and array.astype. Throws INVALID_ARGUMENT, naming the function
// and the argument, on a function or an argument that is not known or does not fit.
Tensor NumpyArray(const std::string& function, const NumpyArguments& arguments);
Tensor NumpyMethod(const std::string& method, const Tensor& array, const NumpyArguments& arguments);

// "float32", "f4", "<f4", "float", ...; kInvalid when it is no type.
DType NumpyDType(std::string_view name);

}  // namespace sextant::cli
