#include "sextant/runtime/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "sextant/proto/step_stats.pb.h"

namespace sextant {
namespace {

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

int64_t StepTrace::Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string StepTrace::ChromeTrace() const {
  std::map<std::string, int> process_ids;
  for (const Event& e : events_) process_ids.emplace(e.device, 0);
  std::string json = "{\"traceEvents\": [\n";
  int next = 0;
  for (auto& [device, id] : process_ids) {
    id = next++;
    json += fmt::format(
        "  {{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": {}, \"args\": {{\"name\": "
        "\"{}\"}}}},\n",
        id, Escaped(device));
  }
  for (size_t i = 0; i < events_.size(); ++i) {
    const Event& e = events_[i];
    const std::string implementation =
        e.implementation.empty()
            ? ""
            : fmt::format(", \"implementation\": \"{}\"", Escaped(e.implementation));
    json += fmt::format(
        "  {{\"name\": \"{}\", \"cat\": \"Op\", \"ph\": \"X\", \"pid\": {}, \"tid\": 0, \"ts\": "
        "{:.3f}, "
        "\"dur\": {:.3f}, \"args\": {{\"name\": \"{}\", \"op\": \"{}\", \"bytes\": {}{}}}}}{}\n",
        Escaped(e.op), process_ids[e.device], static_cast<double>(e.start_ns) / 1e3,
        static_cast<double>(e.end_ns - e.start_ns) / 1e3, Escaped(e.node), Escaped(e.op),
        e.output_bytes, implementation, i + 1 == events_.size() ? "" : ",");
  }
  return json + "]}\n";
}

void StepTrace::ToRunMetadata(proto::RunMetadata* metadata) const {
  std::map<std::string, proto::DeviceStepStats*> devices;
  for (const Event& e : events_) {
    auto*& stats = devices[e.device];
    if (!stats) {
      stats = metadata->mutable_step_stats()->add_dev_stats();
      stats->set_device(e.device);
    }
    auto* node = stats->add_node_stats();
    node->set_node_name(e.node);
    node->set_all_start_micros(e.start_ns / 1000);
    node->set_op_end_rel_micros((e.end_ns - e.start_ns) / 1000);
    node->set_all_end_rel_micros((e.end_ns - e.start_ns) / 1000);
    node->set_all_start_nanos(e.start_ns);
    node->set_op_end_rel_nanos(e.end_ns - e.start_ns);
    node->set_all_end_rel_nanos(e.end_ns - e.start_ns);
    node->set_timeline_label(e.implementation.empty()
                                 ? fmt::format("{} = {}()", e.node, e.op)
                                 : fmt::format("{} = {}() by {}", e.node, e.op, e.implementation));
    auto* memory = node->add_memory();
    memory->set_allocator_name("cpu");
    memory->set_total_bytes(e.output_bytes);
    memory->set_peak_bytes(e.output_bytes);
  }
}

}  // namespace sextant
