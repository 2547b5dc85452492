// Tuples from the rows of a batch, and back.
#pragma once

#include <span>
#include <vector>

#include "sextant/ops/queue/tuple_store.h"
#include "sextant/tensor/shape.h"

namespace sextant {

// One tuple for each row, each with memory of its own. Throws INVALID_ARGUMENT when a component has
// no rows or the components differ in their number.
std::vector<Tuple> SplitBatch(const Tuple& batch);

// The tuples as rows. Every component has the shape given but where a size is not known: there the
// rows are padded with zeros to the largest. "types" are those of the components.
Tuple MakeBatch(std::span<const Tuple> tuples, std::span<const DType> types,
                std::span<const PartialShape> shapes);

}  // namespace sextant
