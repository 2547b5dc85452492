// IteratorV2, OneShotIterator, MakeIterator, IteratorGetNext, IteratorToStringHandle: iterators in
// a graph; every Run that needs an element takes the next one. Programs use graph_iterator.h, which
// names the components of elements.
#pragma once

#include <string>
#include <vector>

#include "sextant/data/dataset.h"
#include "sextant/graph/output.h"
#include "sextant/tensor/shape.h"

namespace sextant {

struct IteratorSignature {
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
};

// The handle of an iterator of the session, by the name of the node. With a dataset it needs no
// MakeIterator: the first IteratorGetNext begins.
Output IteratorHandle(const IteratorSignature& signature, const data::Dataset& dataset = {},
                      const std::string& name = "");
// Starts an iteration over the dataset; one under way is abandoned.
Operation MakeIterator(Output iterator, const data::Dataset& dataset, const std::string& name = "");
// The components of the next element. OUT_OF_RANGE at the end.
std::vector<Output> IteratorGetNext(Output iterator, const std::string& name = "");

}  // namespace sextant
