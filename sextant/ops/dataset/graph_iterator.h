// Iterators in a graph: a Dataset's elements as outputs that other nodes use.
//
//   auto next = data::OneShotIterator(dataset).GetNext();
//   Output loss = Loss(next["image"], next["label"]);    // each Run takes the next element
//
// A Run that needs an element at the end of the data throws OUT_OF_RANGE. The graph keeps the
// Dataset; every session iterates over it by itself. Outputs are the Dataset's tensors, not copies.
// When a Run is cancelled, or misses its deadline, while it waits for an element, the iteration has
// ended. Positions are saved by iterator_states.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/data/dataset.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant::data {

// The fields of an element in a graph.
class SEXTANT_API ElementOutputs {
 public:
  ElementOutputs() = default;
  explicit ElementOutputs(std::vector<std::pair<std::string, Output>> fields)
      : fields_(std::move(fields)) {}

  // Throws NOT_FOUND, naming the fields there are.
  Output operator[](std::string_view name) const;
  const std::vector<std::pair<std::string, Output>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, Output>> fields_;
};

struct SEXTANT_API GraphIteratorOptions {
  std::string name = "iterator";  // of the node; the session and checkpoints know it by this
  // Makes the next element while a step runs. A pipeline that ends in Prefetch does so anyway.
  bool prefetch = true;
};

// An iterator of the current graph. Copies are cheap.
class SEXTANT_API GraphIterator {
 public:
  // Of unknown data, to be initialised with Datasets of this spec.
  GraphIterator(ElementSpec spec, const GraphIteratorOptions& options = {});

  // The outputs of a node that takes the next element. Every call adds another node; a Run that
  // needs several of them takes as many elements.
  ElementOutputs GetNext() const;
  // Starts a new iteration over the dataset, in the middle of another one too. Throws
  // INVALID_ARGUMENT when its spec does not fit.
  Operation MakeInitializer(const Dataset& dataset) const;

  Output handle() const { return handle_; }
  const ElementSpec& spec() const { return spec_; }

 private:
  friend GraphIterator OneShotIterator(const Dataset&, const GraphIteratorOptions&);
  GraphIterator(ElementSpec spec, const GraphIteratorOptions& options, const Dataset* dataset);

  ElementSpec spec_;
  bool prefetch_;
  Output handle_;
};

// An iterator over the dataset, once. Needs no initialisation.
GraphIterator OneShotIterator(const Dataset& dataset, const GraphIteratorOptions& options = {});

}  // namespace sextant::data

#pragma GCC visibility pop
