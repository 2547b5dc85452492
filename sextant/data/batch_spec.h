// BatchSpec: the ElementSpec of batches.
#pragma once

#include <cstdint>

#include "sextant/data/element.h"

namespace sextant::data {

// The rows' fields with a first dimension of `size`, or of -1: unknown.
inline ElementSpec BatchSpec(ElementSpec rows, int64_t size) {
  for (FieldSpec& field : rows) {
    if (field.shape.rank_known()) field.shape.Insert(0, size);
  }
  return rows;
}

}  // namespace sextant::data
