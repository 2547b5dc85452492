// Numbers as numpy writes them: alone, or aligned as the column of an array.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace sextant {

// The shortest text that stands for this value and no other of its type: "1.0", "0.1", "1e-05".
// T is float, double, Half or BFloat16.
template <typename T>
std::string RealText(T value);

// All values in one form and width: at most eight digits after the point, scientific when the sizes
// differ much. "plus" writes the sign of positive numbers too.
template <typename T>
std::vector<std::string> AlignedReals(std::span<const T> values, bool plus);

// Integers and other words: padded on the left to the longest.
void AlignRight(std::vector<std::string>* words);

}  // namespace sextant
