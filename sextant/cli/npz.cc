#include "sextant/cli/npz.h"

#include <memory>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/datasets/archive_functions.h"
#include "sextant/formats/npy.h"

namespace sextant::cli {
namespace {

// The most bytes that the members of one archive may unpack to.
constexpr size_t kMaxUnpacked = size_t{4} << 30;

struct FreeArchive {
  void operator()(::archive* a) const { datasets::Archives().read_free(a); }
};

}  // namespace

bool IsZip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

std::map<std::string, Tensor> ReadNpz(const std::string& path) {
  const std::string bytes = FileSystem::ForPath(path).ReadFile(path);
  const std::unique_ptr<::archive, FreeArchive> zip(datasets::Archives().read_new());
  const auto check = [&](int result) {
    if (result >= ARCHIVE_WARN) return;
    const char* reason = datasets::Archives().error_string(zip.get());
    throw DataLoss("{} is not a sound .npz file: {}", path, reason == nullptr ? "?" : reason);
  };
  check(datasets::Archives().read_support_format_zip_seekable(zip.get()));
  check(datasets::Archives().read_open_memory(zip.get(), bytes.data(), bytes.size()));
  std::map<std::string, Tensor> arrays;
  size_t unpacked = 0;
  ::archive_entry* entry = nullptr;
  for (int result;
       (result = datasets::Archives().read_next_header(zip.get(), &entry)) != ARCHIVE_EOF;) {
    check(result);
    const char* name = datasets::Archives().entry_pathname(entry);
    std::string content;
    const void* block = nullptr;
    size_t size = 0;
    la_int64_t offset = 0;
    while ((result = datasets::Archives().read_data_block(zip.get(), &block, &size, &offset)) !=
           ARCHIVE_EOF) {
      check(result);
      unpacked += size;
      if (unpacked > kMaxUnpacked) throw ResourceExhausted("{} unpacks to over 4 GiB", path);
      content.append(static_cast<const char*>(block), size);
    }
    std::string key = name == nullptr ? "" : name;
    const std::string what = fmt::format("{}[{}]", path, key);
    if (key.ends_with(".npy")) key.resize(key.size() - 4);
    arrays[key] = ParseNpy(content, what);
  }
  return arrays;
}

}  // namespace sextant::cli
