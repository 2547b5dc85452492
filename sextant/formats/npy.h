// NumPy's .npy files: one array each.
//
// Read are versions 1 to 3, both byte orders, row- and column-major, of bool, all integers, float16
// to float64, complex64 and complex128, byte strings (S) and Unicode strings (U, as UTF-8). Arrays
// of Python objects are pickles, which may run code, and are refused. Throws INVALID_ARGUMENT (a
// form that is not read) or DATA_LOSS (damaged), naming the file.
#pragma once

#include <string>
#include <string_view>

#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

// "what" is the path, for errors.
Tensor ParseNpy(std::string_view bytes, std::string_view what);
// Version 1, row-major. Strings become byte strings as long as the longest ("|S5"), so zero bytes
// at their ends are lost, as in NumPy; bfloat16 is widened to float32.
std::string NpyBytes(const Tensor& tensor);

Tensor ReadNpy(const std::string& path);
// Replaces the file atomically.
void WriteNpy(const std::string& path, const Tensor& tensor);

}  // namespace sextant

#pragma GCC visibility pop
