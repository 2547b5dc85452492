// Values written in a part of Python's and NumPy's notation, for inputs on the command line:
//
//   value = number | string | True | False | None | list | tuple | dict | array
//   list  = [value, ...]    tuple = (value, ...)    dict = {string: value, ...}
//   array = np.zeros(shape[, dtype])            np.ones(shape[, dtype])
//         | np.full(shape, value[, dtype])      np.arange([start, ]stop[, step][, dtype])
//         | np.array(value[, dtype])            array.reshape(shape)    array.astype(dtype)
//   dtype = np.float32 | "float32" | float | int | bool; also as dtype=...
//
// Numbers may have a sign and underscores and be written as 1, 0x1f, 1.5, 1e-3, inf or nan; strings
// as 'a', "a", b'a' with the usual escapes. Nothing is run.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sextant/tensor/tensor.h"

namespace sextant::cli {

struct PythonList;
struct PythonDict;

// A Tensor stands for an array; lists and tuples are the same.
using PythonLiteral = std::variant<std::monostate, bool, int64_t, double, std::string, Tensor,
                                   std::shared_ptr<PythonList>, std::shared_ptr<PythonDict>>;
struct PythonList {
  std::vector<PythonLiteral> items;
};
struct PythonDict {
  std::vector<std::pair<std::string, PythonLiteral>> items;
};

// Takes one value off the front of *text; what follows it is left. Throws INVALID_ARGUMENT, naming
// the place, on anything else.
PythonLiteral TakePythonLiteral(std::string_view* text);
// The whole text is one value.
PythonLiteral ParsePythonLiteral(std::string_view text);

// The value as an array: numbers and strings are scalars, lists have a dimension more than their
// items. Numbers become int64 or, where one has a point, double. Throws INVALID_ARGUMENT when the
// items are of different shapes or kinds.
Tensor ArrayOf(const PythonLiteral& value);
// "a list", "a string", ... for errors.
std::string KindName(const PythonLiteral& value);

// The same values as another type, as NumPy converts them; INVALID_ARGUMENT when a number cannot be
// represented, or between strings and numbers.
Tensor Converted(const Tensor& tensor, DType dtype);

}  // namespace sextant::cli
