// The trace of a run that another process has made, as messages.
#pragma once

#include "sextant/proto/cluster.pb.h"
#include "sextant/runtime/trace.h"

namespace sextant::dist {

void AddTrace(const StepTrace& trace, ReplyHeader* header);
// Appends what the answer tells.
void TakeTrace(const ReplyHeader& header, StepTrace* trace);

}  // namespace sextant::dist
