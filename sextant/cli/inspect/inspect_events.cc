#include "sextant/cli/inspect/inspect_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "sextant/base/error.h"
#include "sextant/base/interrupt.h"
#include "sextant/base/json_writer.h"
#include "sextant/base/printable.h"
#include "sextant/cli/inspect/event_json.h"
#include "sextant/cli/inspect/text_table.h"
#include "sextant/formats/event_reader.h"
#include "sextant/formats/event_summary.h"
#include "sextant/proto/event.pb.h"

namespace sextant::cli {
namespace {

std::string TimeText(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

std::string LastValue(const SummaryData& data) {
  switch (data.kind) {
    case SummaryKind::kScalar:
      return fmt::format("{:.6g}", data.scalar);
    case SummaryKind::kHistogram: {
      if (data.buckets.empty()) return "empty";
      double count = 0;
      for (const SummaryBucket& bucket : data.buckets) count += bucket.count;
      return fmt::format("{} values in [{:.4g}, {:.4g}]", count, data.buckets.front().left,
                         data.buckets.back().right);
    }
    case SummaryKind::kImage:
      if (data.images.empty()) return "no image";
      return fmt::format(
          "{} x {} pixels{}", data.images[0].width, data.images[0].height,
          data.images.size() > 1 ? fmt::format(", {} images", data.images.size()) : "");
    case SummaryKind::kAudio:
      return fmt::format("{} clips", data.clips.size());
    case SummaryKind::kText:
      if (data.tensor.num_elements() == 0 || data.tensor.dtype() != DType::kString) return "";
      return "\"" + Shortened(data.tensor.flat<std::string>()[0], 40) + "\"";
    case SummaryKind::kHParams:
    case SummaryKind::kTensor:
      return data.tensor.valid() ? data.tensor.Describe() : "";
    case SummaryKind::kNothing:
      return "";
  }
  return "";
}

struct Tag {
  std::string kind;
  int64_t count = 0;
  int64_t first = 0, last = 0;
  std::string value;
};

// All that the text says of a file.
struct Summary {
  int64_t events = 0;
  double first_time = 0, last_time = 0;
  int64_t last_step = 0;
  std::map<std::string, Tag> tags;
  std::vector<std::string> others;  // one line for each event that is no summary

  void Add(const proto::Event& event, SummaryReader& values);
};

void Summary::Add(const proto::Event& event, SummaryReader& values) {
  using proto::Event;
  if (events++ == 0) first_time = event.wall_time();
  last_time = event.wall_time();
  last_step = std::max<int64_t>(last_step, event.step());
  const auto other = [&](const std::string& text) {
    others.push_back(fmt::format("step {}: {}", event.step(), text));
  };
  switch (event.what_case()) {
    case Event::kGraphDef:
      other(fmt::format("graph, {} bytes", event.graph_def().size()));
      break;
    case Event::kMetaGraphDef:
      other(fmt::format("meta graph, {} bytes", event.meta_graph_def().size()));
      break;
    case Event::kSessionLog: {
      const auto& log = event.session_log();
      other(fmt::format("session {} {}", proto::SessionLog::SessionStatus_Name(log.status()),
                        log.checkpoint_path()));
      break;
    }
    case Event::kTaggedRunMetadata:
      other(fmt::format("run metadata \"{}\"", event.tagged_run_metadata().tag()));
      break;
    case Event::kLogMessage:
      other("log: " + Shortened(event.log_message().message()));
      break;
    default:
      break;
  }
  for (const auto& value : event.summary().value()) {
    Tag& tag = tags[value.tag()];
    if (tag.count++ == 0) tag.first = event.step();
    tag.last = event.step();
    try {
      const SummaryData data = values.Read(value);
      tag.kind = SummaryKindName(data.kind);
      tag.value = LastValue(data);
    } catch (const Error& e) {
      tag.kind = "damaged";
      tag.value = e.message();
    }
  }
}

void Print(const std::string& path, const Summary& summary, std::ostream& out) {
  out << fmt::format("{}: event file, {} events up to step {}, {} to {} UTC\n", path,
                     summary.events, summary.last_step, TimeText(summary.first_time),
                     TimeText(summary.last_time));
  TextTable table({"tag", "kind", "values", "steps", "last value"});
  for (const auto& [name, tag] : summary.tags) {
    table.AddRow({Shortened(name), tag.kind, fmt::format("{}", tag.count),
                  tag.first == tag.last ? fmt::format("{}", tag.first)
                                        : fmt::format("{} .. {}", tag.first, tag.last),
                  tag.value});
  }
  table.Print(out);
  for (const std::string& line : summary.others) out << "  " << ShownName(line) << "\n";
}

void WriteTags(const Summary& summary, JsonWriter& json) {
  json.Key("tags");
  json.BeginObject();
  for (const auto& [name, tag] : summary.tags) {
    json.Key(name);
    json.BeginObject();
    json.Field("kind", tag.kind);
    json.Field("count", tag.count);
    json.Field("first_step", tag.first);
    json.Field("last_step", tag.last);
    json.Field("last", tag.value);
    json.EndObject();
  }
  json.EndObject();
}

}  // namespace

bool InspectEvents(const std::string& path, const InspectOptions& options, std::ostream& out) {
  Summary summary;
  SummaryReader values;
  Status error;
  JsonWriter json(out);
  if (options.json) {
    json.BeginObject();
    json.Field("kind", "events");
    json.Field("path", path);
    json.Key("events");
    json.BeginArray();
  }
  try {
    EventReader reader(path);
    for (proto::Event event; reader.Next(&event);) {
      ThrowIfInterrupted();
      if (options.json && (options.limit < 0 || summary.events < options.limit)) {
        WriteEvent(event, json);
      }
      summary.Add(event, values);
    }
  } catch (const Error& e) {
    if (e.code() == Code::kCancelled) throw;
    error = e.status();
  }
  if (options.json) {
    json.EndArray();
    json.Field("num_events", summary.events);
    WriteTags(summary, json);
    if (!error.ok()) {
      json.Key("error");
      json.BeginObject();
      json.Field("code", static_cast<int>(error.code()));
      json.Field("message", error.message());
      json.EndObject();
    }
    json.EndObject();
  } else {
    Print(path, summary, out);
    if (!error.ok()) {
      out << fmt::format("DAMAGED after {} whole events: {}\n", summary.events, error.message());
    }
  }
  return error.ok();
}

}  // namespace sextant::cli
