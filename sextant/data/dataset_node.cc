#include "sextant/data/dataset_node.h"

#include "sextant/base/cancellation.h"
#include "sextant/base/error.h"
#include "sextant/data/row_batch.h"

namespace sextant::data {

void DeferredWork::FinishRows(std::span<PendingElement> pending, RowBatch& batch,
                              int64_t first) const {
  for (PendingElement& one : pending) {
    batch.Make(first++, [&](Element* element) { Finish(one, element); });
  }
}

void DeferredWork::FinishRows(RowBatch&, RowBatch&, int64_t) const {
  throw Internal("work that has no row_format() was given rows");
}

ElementSpec DatasetNode::Spec() const {
  IterationContext context;
  context.cancellation = std::make_shared<CancellationToken>();
  Element element;
  if (!MakeIterator(context)->Next(&element)) {
    throw FailedPrecondition(
        "cannot tell the fields of a dataset that is empty, {}; give MapOptions::spec", Describe());
  }
  ElementSpec spec;
  for (const auto& [name, tensor] : element.fields()) {
    spec.push_back({name, tensor.dtype(), tensor.shape()});
  }
  return spec;
}

std::string DatasetNode::DescribeOrigin(std::string_view) const { return ""; }

}  // namespace sextant::data
