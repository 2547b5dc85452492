// What reports say of a tensor: its values, their statistics, its JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sextant/tensor/numpy_name.h"
#include "sextant/tensor/tensor.h"

namespace sextant {
class JsonWriter;
}

namespace sextant::cli {

// Of the numbers that are finite; nothing for texts, and handles. Complex numbers count by absolute
// value.
struct Statistics {
  double min = 0, max = 0, mean = 0, std = 0;
  int64_t finite = 0;  // 0: the four are meaningless
  int64_t nan = 0;
  int64_t infinite = 0;
};
std::optional<Statistics> ComputeStatistics(const Tensor& tensor);

// The fields "dtype", "shape", "sha256" (of the elements, little-endian; not of texts) and, for at
// most `max_values` elements, "values": flat, row by row; bools as 0 and 1, complex numbers as
// pairs, texts as JsonWriter::Bytes. To be called inside an object.
void WriteTensorFields(const Tensor& tensor, int64_t max_values, JsonWriter& json);
void WriteStatistics(const Statistics& statistics, JsonWriter& json);

// Usual bound for "values".
constexpr int64_t kFewValues = 64;

}  // namespace sextant::cli
