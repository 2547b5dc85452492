#include "sextant/data/node_iterator.h"

#include <utility>

#include "sextant/base/fingerprint.h"
#include "sextant/data/block_leases.h"
#include "sextant/data/cancellable_loop.h"
#include "sextant/data/row_batch.h"

namespace sextant::data {

IterationContext IterationContext::Nested(int64_t number) const {
  IterationContext context = *this;
  // The iterations of the outermost Repeat are plainly 0, 1, 2 …
  context.iteration = iteration == 0
                          ? number
                          : static_cast<int64_t>(FingerprintCat64(static_cast<uint64_t>(iteration),
                                                                  static_cast<uint64_t>(number)));
  return context;
}

IterationContext IterationContext::Branch(int64_t number) const {
  IterationContext context = *this;
  context.entropy = FingerprintCat64(entropy, static_cast<uint64_t>(number));
  context.branch = FingerprintCat64(branch, static_cast<uint64_t>(number));
  return context;
}

IterationContext IterationContext::Whole(const char* what) const {
  if (leases) leases->LeaveAlone(what);
  return Inside();
}

IterationContext IterationContext::Inside() const {
  IterationContext context = *this;
  context.leases.reset();
  return context;
}

uint64_t IterationContext::WithRank(uint64_t seed) const {
  return rank == 0 ? seed : FingerprintCat64(seed, static_cast<uint64_t>(rank));
}

void NodeIterator::NextRows(RowBatch& batch) {
  const CancellableLoop loop;
  if (batch.keeps_origins()) {
    PendingElement pending;
    for (std::swap(pending.element, *batch.scratch()); !batch.full();) {
      loop.Turn();
      if (!NextPending(&pending)) break;
      batch.origin(batch.rows()) = pending.origin;
      batch.Append(&pending.element);
    }
    std::swap(pending.element, *batch.scratch());
    return;
  }
  while (!batch.full()) {
    loop.Turn();
    if (!Next(batch.scratch())) return;
    batch.Append(batch.scratch());
  }
}

bool NodeIterator::NextPending(PendingElement* pending) {
  pending->positions.clear();
  pending->finished = 0;
  pending->origin.clear();
  return Next(&pending->element);
}

}  // namespace sextant::data
