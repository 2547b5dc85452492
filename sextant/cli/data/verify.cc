#include "sextant/cli/data/verify.h"

#include <fmt/format.h>

#include <string_view>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/base/printable.h"
#include "sextant/base/progress.h"
#include "sextant/cli/record_detection.h"
#include "sextant/formats/tfrecord.h"

namespace sextant::cli {
namespace {

struct Result {
  bool opened = false;
  int64_t records = 0;
  uint64_t bytes = 0;  // of their contents
  std::string problem;
};

Result Verify(const std::string& path, Compression compression) {
  Result result{.opened = true};
  TFRecordReader reader(path, compression);
  Progress progress(path, 0, "records");
  try {
    for (std::string_view record; reader.NextView(&record);) {
      ++result.records;
      result.bytes += record.size();
      if (result.records % 256 == 0) {
        ThrowIfInterrupted();
        progress.Update(result.records);
      }
    }
    if (reader.ended_in_header()) {
      result.problem =
          fmt::format("ends inside the header of the record at offset {}", reader.offset());
    } else if (reader.stream_cut_off()) {
      result.problem = fmt::format(
          "the compressed stream is cut off after the record that ends at {}", reader.offset());
    }
  } catch (const Error& e) {
    if (e.code() == Code::kCancelled) throw;
    result.problem = e.message();
  }
  return result;
}

// Messages of file systems begin with the path.
std::string WithoutPath(const std::string& message, const std::string& path) {
  const std::string prefix = ShownName(path) + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

}  // namespace

bool VerifyRecordFiles(const std::vector<std::string>& paths, std::ostream& out) {
  bool whole = true;
  for (const std::string& path : paths) {
    Result result;
    Compression compression = Compression::kNone;
    try {
      if (FileSystem::ForPath(path).Stat(path).is_directory) {
        throw FailedPrecondition("it is a directory; name the files in it");
      }
      compression = DetectTFRecord(path).value_or(Compression::kNone);
      result = Verify(path, compression);
    } catch (const Error& e) {
      if (e.code() == Code::kCancelled) throw;
      result.problem = e.message();
    }
    if (result.problem.empty()) {
      out << fmt::format("{}: {} records, {} bytes{}{}\n", ShownName(path), result.records,
                         result.bytes, compression == Compression::kNone ? "" : ", ",
                         compression == Compression::kNone ? "" : CompressionName(compression));
    } else if (!result.opened) {
      whole = false;
      out << fmt::format("{}: NOT READ: {}\n", ShownName(path), WithoutPath(result.problem, path));
    } else {
      whole = false;
      out << fmt::format("{}: DAMAGED after {} whole records: {}\n", ShownName(path),
                         result.records, result.problem);
    }
    out << std::flush;
  }
  return whole;
}

}  // namespace sextant::cli
