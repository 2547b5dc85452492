// libFuzzer target: bytes are read as an event file, or as one Event in a record with right
// checksums, and its summaries by their meaning. A finding is a memory error, or an error other
// than DATA_LOSS with the path and, for a summary, INVALID_ARGUMENT.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/formats/event_reader.h"
#include "sextant/formats/event_summary.h"
#include "sextant/formats/hparams_summary.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/event.pb.h"
#include "sextant/proto/hparams.pb.h"

namespace sextant::fuzz {
namespace {

constexpr char kPath[] = "memory://event_fuzz";

[[noreturn]] void Report(const Error& error) {
  fmt::print(stderr, "finding: {}\n", error.what());
  std::abort();
}

void ReadSummary(const proto::Summary& summary, SummaryReader& reader) {
  for (const auto& value : summary.value()) {
    try {
      reader.Read(value);
    } catch (const Error& e) {
      if (e.code() != Code::kInvalidArgument) Report(e);
    }
    try {
      proto::hparams::HParamsPluginData data;
      ReadHParams(value, &data);
    } catch (const Error& e) {
      if (e.code() != Code::kDataLoss) Report(e);
    }
  }
}

void ReadEvents() {
  EventReader reader(kPath);
  SummaryReader summaries;
  try {
    for (proto::Event event; reader.Next(&event);) ReadSummary(event.summary(), summaries);
  } catch (const Error& e) {
    if (e.code() != Code::kDataLoss || !e.message().starts_with(kPath)) Report(e);
  }
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sextant;
  SetLogLevel(LogLevel::kOff);
  if (size == 0) return 0;
  const std::string_view data(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  std::string file(data);
  if (bytes[0] >= 64) {
    file.clear();
    AppendTFRecord(&file, data);
  }
  FileSystem::ForPath(fuzz::kPath).WriteFileAtomically(fuzz::kPath, file);
  fuzz::ReadEvents();
  return 0;
}
