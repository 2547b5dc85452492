#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/event_reader.h"
#include "sextant/formats/event_summary.h"
#include "sextant/formats/image/png.h"
#include "sextant/proto/event.pb.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/proto/step_stats.pb.h"
#include "sextant/tensor/tensor_proto.h"
#include "tests/conformance/file_cases.h"
#include "tests/conformance/json_values.h"

namespace sextant::conformance {
namespace {

using nlohmann::json;
using proto::Event;
using proto::Summary;

json Number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

template <typename List>
json Numbers(const List& list) {
  json numbers = json::array();
  for (const double x : list) numbers.push_back(Number(x));
  return numbers;
}

Tensor Pixels(const std::string& png) {
  Tensor pixels;
  ReadPng(png, {}, [&](const ImageSize& size) {
    pixels = Tensor(DType::kUInt8, {size.height, size.width, size.channels});
    return pixels.raw_data();
  });
  return pixels;
}

const char* KindName(const Summary::Value& value) {
  switch (value.value_case()) {
    case Summary::Value::kSimpleValue:
      return "simple_value";
    case Summary::Value::kObsoleteOldStyleHistogram:
      return "obsolete_old_style_histogram";
    case Summary::Value::kImage:
      return "image";
    case Summary::Value::kHisto:
      return "histo";
    case Summary::Value::kAudio:
      return "audio";
    case Summary::Value::kTensor:
      return "tensor";
    case Summary::Value::VALUE_NOT_SET:
      break;
  }
  return "";
}

// What is compared part by part, where the index has a digest instead of the value.
std::string TensorPartDifference(const Tensor& tensor, const json& expected) {
  if (!expected.contains("lengths")) return Difference(tensor, expected);
  json lengths = json::array();
  for (const std::string& text : tensor.flat<std::string>()) lengths.push_back(text.size());
  const Shape shape(expected.at("shape").get<std::vector<int64_t>>());
  if (tensor.shape() != shape) return "another shape";
  return lengths == expected["lengths"] ? "" : "strings of other lengths";
}

std::string ImageDifference(const Summary::Image& image, json expected) {
  const json size = {{"height", image.height()},
                     {"width", image.width()},
                     {"colorspace", image.colorspace()},
                     {"png_bytes", image.encoded_image_string().size()}};
  const json pixels = expected.at("pixels");
  expected.erase("pixels");
  if (size != expected) return fmt::format("image {}, expected {}", size.dump(), expected.dump());
  return Difference(Pixels(image.encoded_image_string()), pixels);
}

json AudioJson(const Summary::Audio& audio) {
  return {{"sample_rate", audio.sample_rate()},
          {"num_channels", audio.num_channels()},
          {"length_frames", audio.length_frames()},
          {"content_type", audio.content_type()},
          {"sha256", Sha256(audio.encoded_audio_string())},
          {"bytes", audio.encoded_audio_string().size()}};
}

json HistogramJson(const proto::HistogramProto& histogram) {
  return {{"min", Number(histogram.min())},
          {"max", Number(histogram.max())},
          {"num", histogram.num()},
          {"sum", Number(histogram.sum())},
          {"sum_squares", Number(histogram.sum_squares())},
          {"bucket_limit", Numbers(histogram.bucket_limit())},
          {"bucket", Numbers(histogram.bucket())}};
}

json MetadataJson(const proto::SummaryMetadata& metadata) {
  return {{"plugin_name", metadata.plugin_data().plugin_name()},
          {"plugin_content", Sha256(metadata.plugin_data().content())},
          {"display_name", metadata.display_name()},
          {"summary_description", metadata.summary_description()},
          {"data_class", static_cast<int>(metadata.data_class())}};
}

// Moves the entries of a value that come from its metadata into one object of its own.
json TakeMetadata(json& expected) {
  json metadata;
  if (!expected.contains("plugin_name")) return metadata;
  for (const char* key : {"plugin_name", "display_name", "summary_description", "data_class"}) {
    metadata[key] = expected.at(key);
    expected.erase(key);
  }
  const json content = {{"base64", expected.at("plugin_content_base64")}};
  metadata["plugin_content"] = Sha256(JsonBytes(content));
  expected.erase("plugin_content_base64");
  return metadata;
}

std::string ValueDifference(const Summary::Value& value, json expected) {
  const json metadata = TakeMetadata(expected);
  const json own = value.has_metadata() ? MetadataJson(value.metadata()) : json();
  if (own != metadata) {
    return fmt::format("metadata {}, expected {}", own.dump(), metadata.dump());
  }
  json actual = {{"tag", value.tag()}, {"kind", KindName(value)}};
  std::string difference;
  if (value.has_image()) {
    difference = ImageDifference(value.image(), expected.at("image"));
    expected.erase("image");
  } else if (value.has_tensor()) {
    difference = TensorPartDifference(TensorFromProto(value.tensor()), expected.at("tensor"));
    expected.erase("tensor");
  } else if (value.has_histo()) {
    actual["histo"] = HistogramJson(value.histo());
  } else if (value.has_audio()) {
    actual["audio"] = AudioJson(value.audio());
  } else if (value.value_case() == Summary::Value::kSimpleValue) {
    actual["simple_value"] = Number(value.simple_value());
  }
  if (!difference.empty()) return difference;
  if (actual == expected) return "";
  return fmt::format("{}, expected {}", actual.dump(), expected.dump());
}

// The values as we understand them: each is of the kind it says.
std::string MeaningDifference(SummaryReader& reader, const Summary::Value& value) {
  const SummaryData data = reader.Read(value);
  if (data.kind == SummaryKind::kNothing) return "is nothing we know";
  const bool scalar = value.value_case() == Summary::Value::kSimpleValue;
  if (scalar && !(data.scalar == value.simple_value() || std::isnan(value.simple_value()))) {
    return fmt::format("is {}", data.scalar);
  }
  return "";
}

std::string SummaryDifference(const Summary& summary, const json& expected, SummaryReader& reader) {
  if (static_cast<size_t>(summary.value_size()) != expected.size()) {
    return fmt::format("{} values, expected {}", summary.value_size(), expected.size());
  }
  for (int i = 0; i < summary.value_size(); ++i) {
    std::string difference = ValueDifference(summary.value(i), expected[i]);
    if (difference.empty()) difference = MeaningDifference(reader, summary.value(i));
    if (!difference.empty()) return fmt::format("'{}': {}", summary.value(i).tag(), difference);
  }
  return "";
}

template <typename Message>
Message Parsed(const std::string& bytes, const char* name) {
  Message message;
  if (!message.ParseFromString(bytes)) throw DataLoss("not a {}", name);
  return message;
}

json GraphJson(const std::string& bytes) {
  json nodes = json::array();
  const auto graph = Parsed<proto::GraphDef>(bytes, "GraphDef");
  for (const auto& node : graph.node()) nodes.push_back(node.name());
  return nodes;
}

// The event in the form of the index, without its summary.
json EventJson(const Event& event) {
  json result = {{"wall_time", event.wall_time()}, {"step", event.step()}};
  if (event.has_source_metadata()) {
    result["source_metadata_writer"] = event.source_metadata().writer();
  }
  const auto add_blob = [&](const char* what, const std::string& bytes) {
    result["what"] = what;
    result["bytes"] = bytes.size();
    result["sha256"] = Sha256(bytes);
  };
  switch (event.what_case()) {
    case Event::kFileVersion:
      result["what"] = "file_version";
      result["file_version"] = event.file_version();
      break;
    case Event::kGraphDef:
      add_blob("graph_def", event.graph_def());
      result["nodes"] = GraphJson(event.graph_def());
      break;
    case Event::kMetaGraphDef:
      add_blob("meta_graph_def", event.meta_graph_def());
      break;
    case Event::kSessionLog:
      result["what"] = "session_log";
      result["status"] = static_cast<int>(event.session_log().status());
      result["checkpoint_path"] = event.session_log().checkpoint_path();
      result["msg"] = event.session_log().msg();
      break;
    case Event::kTaggedRunMetadata: {
      const auto metadata =
          Parsed<proto::RunMetadata>(event.tagged_run_metadata().run_metadata(), "RunMetadata");
      int nodes = 0;
      result["devices"] = json::array();
      for (const auto& device : metadata.step_stats().dev_stats()) {
        result["devices"].push_back(device.device());
        nodes += device.node_stats_size();
      }
      result["what"] = "tagged_run_metadata";
      result["tag"] = event.tagged_run_metadata().tag();
      result["node_stats"] = nodes;
      result["partition_graphs"] = metadata.partition_graphs_size();
      break;
    }
    case Event::kSummary:
      result["what"] = "summary";
      break;
    case Event::kLogMessage:
      result["what"] = "log_message";
      break;
    case Event::WHAT_NOT_SET:
      result["what"] = nullptr;
      break;
  }
  return result;
}

std::string EventDifference(const Event& event, json expected, SummaryReader& reader) {
  if (event.has_summary()) {
    const std::string difference =
        SummaryDifference(event.summary(), expected.at("summary"), reader);
    if (!difference.empty()) return difference;
    expected.erase("summary");
  }
  const json actual = EventJson(event);
  if (actual == expected) return "";
  return fmt::format("{}, expected {}", actual.dump(), expected.dump());
}

// One case for the file as a whole, one for each event.
void RunFile(const std::string& path, const json& expected, Counts& counts) {
  const std::string name(BaseName(path));
  std::vector<Event> events;
  Try(path, name, "count", counts, [&]() -> std::string {
    EventReader reader(path);
    for (Event event; reader.Next(&event);) events.push_back(event);
    if (events.size() == expected.size()) return "";
    return fmt::format("{} events, expected {}", events.size(), expected.size());
  });
  SummaryReader summaries;
  for (size_t i = 0; i < std::min(events.size(), expected.size()); ++i) {
    Try(path, fmt::format("{} event {}", name, i), "content", counts,
        [&] { return EventDifference(events[i], expected[i], summaries); });
  }
}

}  // namespace

Counts RunEventFiles(const std::string& directory) {
  Counts counts;
  const json index = ReadJson(JoinPath(directory, "index.json"));
  for (const auto& [name, expected] : index.items()) {
    RunFile(JoinPath(directory, name), expected, counts);
  }
  return counts;
}

}  // namespace sextant::conformance
