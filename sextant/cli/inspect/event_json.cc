#include "sextant/cli/inspect/event_json.h"

#include <string>

#include "sextant/base/base64.h"
#include "sextant/base/error.h"
#include "sextant/base/json_writer.h"
#include "sextant/cli/inspect/tensor_report.h"
#include "sextant/formats/digest.h"
#include "sextant/formats/image/png.h"
#include "sextant/proto/event.pb.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/proto/step_stats.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant::cli {
namespace {

constexpr int64_t kFewPixels = 200;
constexpr size_t kMaxTensorBytes = 64 << 20;

void WriteGraph(const std::string& bytes, bool nodes, JsonWriter& json) {
  json.Field("bytes", static_cast<uint64_t>(bytes.size()));
  json.Field("sha256", Digest(bytes, "sha256"));
  proto::GraphDef graph;
  if (!nodes || !graph.ParseFromString(bytes)) return;
  json.Key("nodes");
  json.BeginArray();
  for (const auto& node : graph.node()) json.String(node.name());
  json.EndArray();
}

void WriteImage(const proto::Summary_Image& image, JsonWriter& json) {
  json.Key("image");
  json.BeginObject();
  json.Field("height", int64_t{image.height()});
  json.Field("width", int64_t{image.width()});
  json.Field("colorspace", int64_t{image.colorspace()});
  json.Field("png_bytes", static_cast<uint64_t>(image.encoded_image_string().size()));
  try {
    Tensor pixels;
    ReadPng(image.encoded_image_string(), {}, [&](const ImageSize& size) {
      pixels = Tensor(DType::kUInt8, Shape({size.height, size.width, size.channels}));
      return pixels.raw_data();
    });
    json.Key("pixels");
    json.BeginObject();
    WriteTensorFields(pixels, kFewPixels, json);
    json.EndObject();
  } catch (const Error& e) {
    json.Field("pixels_error", e.message());
  }
  json.EndObject();
}

void WriteHistogram(const proto::HistogramProto& histogram, JsonWriter& json) {
  json.Key("histo");
  json.BeginObject();
  json.Field("min", histogram.min());
  json.Field("max", histogram.max());
  json.Field("num", histogram.num());
  json.Field("sum", histogram.sum());
  json.Field("sum_squares", histogram.sum_squares());
  json.Key("bucket_limit");
  json.BeginArray();
  for (const double limit : histogram.bucket_limit()) json.Double(limit);
  json.EndArray();
  json.Key("bucket");
  json.BeginArray();
  for (const double count : histogram.bucket()) json.Double(count);
  json.EndArray();
  json.EndObject();
}

void WriteAudio(const proto::Summary_Audio& audio, JsonWriter& json) {
  json.Key("audio");
  json.BeginObject();
  json.Field("sample_rate", static_cast<double>(audio.sample_rate()));
  json.Field("num_channels", int64_t{audio.num_channels()});
  json.Field("length_frames", int64_t{audio.length_frames()});
  json.Field("content_type", audio.content_type());
  json.Field("sha256", Digest(audio.encoded_audio_string(), "sha256"));
  json.Field("bytes", static_cast<uint64_t>(audio.encoded_audio_string().size()));
  json.EndObject();
}

void WriteTensor(const proto::TensorProto& proto, JsonWriter& json) {
  Tensor tensor;
  try {
    tensor = TensorFromProto(proto, kMaxTensorBytes);
  } catch (const Error& e) {
    json.Field("tensor_error", e.message());
    return;
  }
  json.Key("tensor");
  json.BeginObject();
  WriteTensorFields(tensor, kFewValues, json);
  json.EndObject();
}

void WriteValue(const proto::Summary_Value& value, JsonWriter& json) {
  using Value = proto::Summary_Value;
  json.BeginObject();
  json.Field("tag", value.tag());
  if (value.has_metadata()) {
    const auto& metadata = value.metadata();
    json.Field("plugin_name", metadata.plugin_data().plugin_name());
    json.Field("plugin_content_base64", StandardBase64(metadata.plugin_data().content()));
    json.Field("display_name", metadata.display_name());
    json.Field("summary_description", metadata.summary_description());
    json.Field("data_class", static_cast<int>(metadata.data_class()));
  }
  switch (value.value_case()) {
    case Value::kSimpleValue:
      json.Field("kind", "simple_value");
      json.Field("simple_value", static_cast<double>(value.simple_value()));
      break;
    case Value::kHisto:
      json.Field("kind", "histo");
      WriteHistogram(value.histo(), json);
      break;
    case Value::kImage:
      json.Field("kind", "image");
      WriteImage(value.image(), json);
      break;
    case Value::kAudio:
      json.Field("kind", "audio");
      WriteAudio(value.audio(), json);
      break;
    case Value::kTensor:
      json.Field("kind", "tensor");
      WriteTensor(value.tensor(), json);
      break;
    default:
      json.Key("kind");
      json.Null();
  }
  json.EndObject();
}

void WriteRunMetadata(const proto::TaggedRunMetadata& tagged, JsonWriter& json) {
  json.Field("tag", tagged.tag());
  proto::RunMetadata metadata;
  if (!metadata.ParseFromString(tagged.run_metadata())) return;
  json.Key("devices");
  json.BeginArray();
  int64_t node_stats = 0;
  for (const auto& device : metadata.step_stats().dev_stats()) {
    json.String(device.device());
    node_stats += device.node_stats_size();
  }
  json.EndArray();
  json.Field("node_stats", node_stats);
  json.Field("partition_graphs", metadata.partition_graphs_size());
}

}  // namespace

void WriteEvent(const proto::Event& event, JsonWriter& json) {
  using proto::Event;
  json.BeginObject();
  json.Field("wall_time", event.wall_time());
  json.Field("step", int64_t{event.step()});
  if (event.has_source_metadata()) {
    json.Field("source_metadata_writer", event.source_metadata().writer());
  }
  json.Key("what");
  switch (event.what_case()) {
    case Event::kFileVersion:
      json.String("file_version");
      json.Field("file_version", event.file_version());
      break;
    case Event::kGraphDef:
      json.String("graph_def");
      WriteGraph(event.graph_def(), true, json);
      break;
    case Event::kMetaGraphDef:
      json.String("meta_graph_def");
      WriteGraph(event.meta_graph_def(), false, json);
      break;
    case Event::kSummary:
      json.String("summary");
      json.Key("summary");
      json.BeginArray();
      for (const auto& value : event.summary().value()) WriteValue(value, json);
      json.EndArray();
      break;
    case Event::kLogMessage:
      json.String("log_message");
      json.Field("level", static_cast<int>(event.log_message().level()));
      json.Field("message", event.log_message().message());
      break;
    case Event::kSessionLog:
      json.String("session_log");
      json.Field("status", static_cast<int>(event.session_log().status()));
      json.Field("checkpoint_path", event.session_log().checkpoint_path());
      json.Field("msg", event.session_log().msg());
      break;
    case Event::kTaggedRunMetadata:
      json.String("tagged_run_metadata");
      WriteRunMetadata(event.tagged_run_metadata(), json);
      break;
    default:
      json.Null();
  }
  json.EndObject();
}

}  // namespace sextant::cli
