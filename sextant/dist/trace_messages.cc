#include "sextant/dist/trace_messages.h"

namespace sextant::dist {

void AddTrace(const StepTrace& trace, ReplyHeader* header) {
  for (const StepTrace::Event& event : trace.events()) {
    TraceEvent* message = header->add_trace();
    message->set_node(event.node);
    message->set_op(event.op);
    message->set_device(event.device);
    message->set_start_ns(event.start_ns);
    message->set_end_ns(event.end_ns);
    message->set_output_bytes(event.output_bytes);
    message->set_implementation(event.implementation);
  }
}

void TakeTrace(const ReplyHeader& header, StepTrace* trace) {
  for (const TraceEvent& message : header.trace()) {
    trace->Add({.node = message.node(),
                .op = message.op(),
                .device = message.device(),
                .start_ns = message.start_ns(),
                .end_ns = message.end_ns(),
                .output_bytes = message.output_bytes(),
                .implementation = message.implementation()});
  }
}

}  // namespace sextant::dist
