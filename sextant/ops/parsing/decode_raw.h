// DecodeRaw, DecodePaddedRaw: strings as the bytes of numbers.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API DecodeRawOptions {
  bool little_endian = true;
};
// Each string as a row of numbers: the shape of "bytes" + [numbers in a string]. All strings must
// have the same length.
Output DecodeRaw(Output bytes, DType out_type, const DecodeRawOptions& options = {});
// The same with rows of fixed_length bytes (a scalar): longer strings are cut, shorter ones padded
// with zeros.
Output DecodePaddedRaw(Output bytes, Output fixed_length, DType out_type,
                       const DecodeRawOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
