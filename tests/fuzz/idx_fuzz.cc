// libFuzzer target: bytes are read as an idx file, gzipped or not. Only DATA_LOSS is the right
// answer to bad ones; an array that was read must be the same when written and read again.
#include <fmt/format.h>

#include <cstdlib>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/datasets/idx.h"

namespace sextant::fuzz {
namespace {

void TestOne(std::string_view bytes) {
  const std::string path = "memory://fuzz.idx", again = "memory://again.idx";
  FileSystem::ForPath(path).WriteFileAtomically(path, bytes);
  try {
    const datasets::IdxArray array = datasets::ReadIdx(path);
    int64_t elements = 1;
    for (const int64_t size : array.shape) elements *= size;
    if (elements != static_cast<int64_t>(array.bytes.size())) {
      throw Internal("{} bytes for {} elements", array.bytes.size(), elements);
    }
    datasets::WriteIdx(again, array);
    const datasets::IdxArray copy = datasets::ReadIdx(again);
    if (copy.shape != array.shape || copy.bytes != array.bytes) throw Internal("the array changed");
  } catch (const Error& e) {
    if (e.code() == Code::kDataLoss) return;
    fmt::print(stderr, "finding: {}\n", e.what());
    std::abort();
  }
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sextant::fuzz::TestOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
