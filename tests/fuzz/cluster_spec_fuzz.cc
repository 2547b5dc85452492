// libFuzzer target: bytes are read as a cluster spec. A finding is a memory error, an error of
// another code than INVALID_ARGUMENT, or a spec that is another one when it is written and read
// again.
#include <string>

#include "sextant/base/error.h"
#include "sextant/dist/cluster_spec.h"
#include "tests/fuzz/finding.h"

namespace sextant::fuzz {
namespace {

std::string Write(const dist::ClusterSpec& cluster) {
  std::string text;
  for (const auto& [job, addresses] : cluster) {
    text += (text.empty() ? "" : ",") + job + "|";
    for (size_t i = 0; i < addresses.size(); ++i) text += (i == 0 ? "" : ";") + addresses[i];
  }
  return text;
}

// Addresses of JSON may hold what separates tasks in the other form.
bool Writable(const dist::ClusterSpec& cluster) {
  for (const auto& [job, addresses] : cluster) {
    for (const std::string& address : addresses) {
      if (address.find_first_of(",;|{") != std::string::npos) return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sextant;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const dist::ClusterSpec cluster = dist::ParseClusterSpec(text);
    if (fuzz::Writable(cluster) && dist::ParseClusterSpec(fuzz::Write(cluster)) != cluster)
      fuzz::Report("another spec when read again");
  } catch (const Error& error) {
    if (error.code() != Code::kInvalidArgument) fuzz::Report(error.what());
  }
  return 0;
}
