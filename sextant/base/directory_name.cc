#include "sextant/base/directory_name.h"

#include "sextant/base/error.h"
#include "sextant/base/printable.h"

namespace sextant {
namespace {

constexpr size_t kMostNameBytes = 200;  // file systems take 255, and prefixes are added

}  // namespace

void CheckDirectoryName(std::string_view what, std::string_view text) {
  const bool is_name = text.find('/') == std::string_view::npos && text != "." && text != ".." &&
                       text.size() <= kMostNameBytes && IsPrintable(text) &&
                       text.find_first_of("\n\t") == std::string_view::npos;
  if (is_name) return;
  throw InvalidArgument(
      "{} must be a name for a directory, without slashes and of at most {} bytes, not '{}'", what,
      kMostNameBytes, text);
}

}  // namespace sextant
