// libFuzzer target: bytes as a file that the operator of a server writes; the first says which:
// (m)odels, (b)atching, m(o)nitoring, (s)sl or (t)okens. A finding is a memory error, an error of
// another code than INVALID_ARGUMENT, or one that does not name the file.
#include <string>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/serving/access.h"
#include "sextant/serving/model_config.h"
#include "tests/fuzz/finding.h"

namespace sextant::fuzz {
namespace {

constexpr char kPath[] = "memory://serving_config_fuzz";

void ReadConfig(char kind) {
  switch (kind) {
    case 'm': {
      const auto models = serving::ReadModelConfigFile(kPath);
      return serving::CheckModelConfigs(models);
    }
    case 'b': {
      const serving::BatchingConfig config = serving::ReadBatchingFile(kPath);
      if (config.max_batch_size < 1 || config.timeout_micros < 0) Report("batches of no size");
      return;
    }
    case 'o': {
      if (!serving::ReadMonitoringFile(kPath).path.starts_with("/")) Report("no path");
      return;
    }
    case 's': {
      if (serving::ReadTlsFile(kPath).certificate.empty()) Report("no certificate");
      return;
    }
    default: {
      const serving::Access access({.token_file = kPath, .admin_token_file = kPath, .roots = {}});
      try {
        access.CheckModel("Bearer ", "m");
        Report("no token opens a model");
      } catch (const Error& error) {
        if (error.code() != Code::kUnauthenticated) throw;
      }
    }
  }
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sextant;
  if (size == 0) return 0;
  FileSystem::ForPath(fuzz::kPath)
      .WriteFileAtomically(fuzz::kPath, {reinterpret_cast<const char*>(data) + 1, size - 1});
  try {
    fuzz::ReadConfig(static_cast<char>(data[0]));
  } catch (const Error& error) {
    if (error.code() != Code::kInvalidArgument || !error.message().starts_with(fuzz::kPath)) {
      fuzz::Report(error.what());
    }
  }
  return 0;
}
