// libFuzzer target: bytes as a request line, "METHOD TARGET". A finding is a memory error, an error
// of another code than INVALID_ARGUMENT and NOT_FOUND, or a path that is another one when it is
// written and read again.
#include <string>

#include "sextant/base/error.h"
#include "sextant/serving/rest_path.h"
#include "tests/fuzz/finding.h"

namespace sextant::fuzz {
namespace {

using serving::RestPath;

// Every byte, so that nothing in a name has a meaning.
std::string PercentEncoded(std::string_view name) {
  std::string text;
  for (const char c : name) text += fmt::format("%{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string Write(const RestPath& path) {
  constexpr const char* kCalls[] = {"", "/metadata", ":predict", ":classify", ":regress"};
  std::string text = "/v1/models/" + PercentEncoded(path.model);
  if (path.version) text += fmt::format("/versions/{}", *path.version);
  if (!path.label.empty()) text += "/labels/" + PercentEncoded(path.label);
  text += kCalls[static_cast<int>(path.call)];
  return path.query.empty() ? text : text + "?" + path.query;
}

void ReadPath(std::string_view line) {
  const std::string_view method = line.substr(0, line.find(' '));
  const std::string_view target = line.substr(std::min(line.size(), method.size() + 1));
  const RestPath path = serving::ParseRestPath(method, target);
  const RestPath again = serving::ParseRestPath(method, Write(path));
  if (again.call != path.call || again.model != path.model || again.version != path.version ||
      again.label != path.label || again.query != path.query) {
    Report("another path when written and read again");
  }
  serving::QueryValue(path.query, "signature_name");
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sextant;
  try {
    fuzz::ReadPath({reinterpret_cast<const char*>(data), size});
  } catch (const Error& error) {
    if (error.code() != Code::kInvalidArgument && error.code() != Code::kNotFound) {
      fuzz::Report(error.what());
    }
  }
  return 0;
}
