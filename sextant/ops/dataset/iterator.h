// Iterators in a graph: every Run that needs an element takes the next one. Programs use
// data/graph_iterator.h, which connects a data::Dataset to these.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sextant/graph/output.h"
#include "sextant/tensor/shape.h"

namespace sextant {

class ElementSource;

struct IteratorSignature {
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
};

// The handle of an iterator of the session, by the name of the node. With a source it needs no
// MakeIterator: the first IteratorGetNext begins.
Output IteratorHandle(const IteratorSignature& signature,
                      const std::shared_ptr<const ElementSource>& source = nullptr,
                      const std::string& name = "");
// Begins a walk over the source; a walk under way is given up.
Operation MakeIterator(Output iterator, const std::shared_ptr<const ElementSource>& source,
                       const std::string& name = "");
// The components of the next element. OUT_OF_RANGE at the end.
std::vector<Output> IteratorGetNext(Output iterator, const std::string& name = "");

}  // namespace sextant
