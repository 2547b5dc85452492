#include "sextant/data/dataset_node.h"

#include "sextant/base/cancellation.h"
#include "sextant/base/error.h"
#include "sextant/base/fingerprint.h"
#include "sextant/data/row_batch.h"

namespace sextant::data {

Walk Walk::Nested(int64_t number) const {
  Walk walk = *this;
  // The walks of the outermost Repeat are plainly 0, 1, 2 …
  walk.iteration = iteration == 0
                       ? number
                       : static_cast<int64_t>(FingerprintCat64(static_cast<uint64_t>(iteration),
                                                               static_cast<uint64_t>(number)));
  return walk;
}

Walk Walk::Branch(int64_t number) const {
  Walk walk = *this;
  walk.entropy = FingerprintCat64(entropy, static_cast<uint64_t>(number));
  return walk;
}

void NodeIterator::NextRows(RowBatch& batch) {
  if (batch.keeps_origins()) {
    Task task;
    for (std::swap(task.element, *batch.scratch()); !batch.full();) {
      if (!NextTask(&task)) break;
      batch.origin(batch.rows()) = task.origin;
      batch.Append(&task.element);
    }
    std::swap(task.element, *batch.scratch());
    return;
  }
  while (!batch.full()) {
    if (!Next(batch.scratch())) return;
    batch.Append(batch.scratch());
  }
}

bool NodeIterator::NextTask(Task* task) {
  task->positions.clear();
  task->finished = 0;
  task->origin.clear();
  return Next(&task->element);
}

ElementSpec DatasetNode::Spec() const {
  Walk walk;
  walk.cancellation = std::make_shared<CancellationToken>();
  Element element;
  if (!MakeIterator(walk)->Next(&element)) {
    throw FailedPrecondition(
        "cannot tell the fields of a dataset that is empty, {}; give MapOptions::spec", Describe());
  }
  ElementSpec spec;
  for (const auto& [name, tensor] : element.fields()) {
    spec.push_back({name, tensor.dtype(), tensor.shape()});
  }
  return spec;
}

void DatasetNode::FinishRows(RowBatch&, RowBatch&, int64_t) const {
  throw Internal("a dataset does not finish rows: {}", Describe());
}

void DatasetNode::FinishRows(std::span<Task> tasks, RowBatch& batch, int64_t first) const {
  for (Task& task : tasks) {
    batch.Make(first++, [&](Element* element) { Finish(task, element); });
  }
}

}  // namespace sextant::data
