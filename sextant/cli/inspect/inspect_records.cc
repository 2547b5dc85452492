#include "sextant/cli/inspect/inspect_records.h"

#include <fmt/format.h>

#include "sextant/base/error.h"
#include "sextant/base/interrupt.h"
#include "sextant/base/json_writer.h"
#include "sextant/cli/inspect/record_content.h"
#include "sextant/cli/record_detection.h"
#include "sextant/formats/digest.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/example.pb.h"

namespace sextant::cli {
namespace {

constexpr size_t kShortRecord = 32;  // such records are shown in hex

const char* ContentName(RecordContent content) {
  return content == RecordContent::kExample           ? "tf.Example"
         : content == RecordContent::kSequenceExample ? "tf.SequenceExample"
                                                      : "bytes";
}

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

void WriteRecord(std::string_view record, uint64_t offset, RecordContent content,
                 JsonWriter& json) {
  json.BeginObject();
  json.Field("offset", offset);
  json.Field("length", static_cast<uint64_t>(record.size()));
  json.Field("sha256", Digest(record, "sha256"));
  if (record.size() <= kShortRecord) json.Field("hex", Hex(record));
  if (content == RecordContent::kExample) {
    proto::Example example;
    if (example.ParseFromArray(record.data(), static_cast<int>(record.size()))) {
      json.Key("example");
      WriteExample(example, json);
    }
  } else if (content == RecordContent::kSequenceExample) {
    proto::SequenceExample example;
    if (example.ParseFromArray(record.data(), static_cast<int>(record.size()))) {
      json.Key("sequence_example");
      WriteSequenceExample(example, json);
    }
  }
  json.EndObject();
}

struct Totals {
  int64_t records = 0;
  uint64_t bytes = 0;
  Status error;
};

// Calls show(record, offset) for each record; an error ends it and is kept.
template <typename Show>
Totals ReadAll(const std::string& path, Compression compression, const Show& show) {
  Totals totals;
  try {
    TFRecordReader reader(path, compression);
    std::string_view record;
    for (uint64_t offset = 0; reader.NextView(&record); offset = reader.offset()) {
      if (totals.records % 256 == 0) ThrowIfInterrupted();
      show(record, offset);
      ++totals.records;
      totals.bytes += record.size();
    }
  } catch (const Error& e) {
    if (e.code() == Code::kCancelled) throw;
    totals.error = e.status();
  }
  return totals;
}

}  // namespace

bool InspectRecords(const std::string& path, const InspectOptions& options, std::ostream& out) {
  const Compression compression = DetectTFRecord(path).value_or(Compression::kNone);
  const RecordContent content = DetectContent(path, compression);
  const std::string compression_name =
      compression == Compression::kNone ? "" : std::string(CompressionName(compression));
  if (options.json) {
    JsonWriter json(out);
    json.BeginObject();
    json.Field("kind", "tfrecord");
    json.Field("path", path);
    json.Field("compression", compression_name);
    json.Field("content", ContentName(content));
    json.Key("records");
    json.BeginArray();
    int64_t shown = 0;
    const Totals totals = ReadAll(path, compression, [&](std::string_view record, uint64_t offset) {
      if (options.limit < 0 || shown < options.limit) WriteRecord(record, offset, content, json);
      ++shown;
    });
    json.EndArray();
    json.Field("num_records", totals.records);
    json.Field("bytes", totals.bytes);
    if (!totals.error.ok()) {
      json.Key("error");
      json.BeginObject();
      json.Field("code", static_cast<int>(totals.error.code()));
      json.Field("message", totals.error.message());
      json.EndObject();
    }
    json.EndObject();
    return totals.error.ok();
  }

  FeatureStatistics features;
  TextTable raw({"record", "offset", "bytes", "begins with"});
  int64_t index = 0;
  const Totals totals = ReadAll(path, compression, [&](std::string_view record, uint64_t offset) {
    proto::Example example;
    proto::SequenceExample sequence;
    const int size = static_cast<int>(record.size());
    if (content == RecordContent::kExample && example.ParseFromArray(record.data(), size)) {
      features.Add(example);
    } else if (content == RecordContent::kSequenceExample &&
               sequence.ParseFromArray(record.data(), size)) {
      features.Add(sequence);
    } else if (index < 10) {
      raw.AddRow({fmt::format("{}", index), fmt::format("{}", offset), fmt::format("{}", size),
                  Hex(record.substr(0, 16))});
    }
    ++index;
  });
  out << fmt::format("{}: TFRecord file, {}{} records of {}, {} bytes\n", path,
                     compression_name.empty() ? "" : compression_name + ", ", totals.records,
                     ContentName(content), totals.bytes);
  features.Table().Print(out);
  raw.Print(out);
  if (!totals.error.ok()) {
    out << fmt::format("DAMAGED after {} whole records: {}\n", totals.records,
                       totals.error.message());
  }
  return totals.error.ok();
}

}  // namespace sextant::cli
