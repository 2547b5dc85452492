// libFuzzer target: bytes are read as an .npy file and as a value on the command line. Only an
// Error other than INTERNAL is the right answer to bad ones; an array that was read must be the
// same when written and read again.
#include <fmt/format.h>

#include <cstdlib>

#include "sextant/base/error.h"
#include "sextant/cli/python_literal.h"
#include "sextant/formats/npy.h"

namespace sextant::fuzz {
namespace {

template <typename Test>
void Try(Test test) {
  try {
    test();
  } catch (const Error& e) {
    if (e.code() != Code::kInternal) return;
    fmt::print(stderr, "finding: {}\n", e.what());
    std::abort();
  }
}

void TestOne(std::string_view bytes) {
  Try([&] {
    const Tensor tensor = ParseNpy(bytes, "bytes");
    if (!ParseNpy(NpyBytes(tensor), "again").Identical(tensor)) throw Internal("the array changed");
  });
  // Arrays may be as large as they say: digits that make them so are left out.
  for (size_t i = 0, digits = 0; i < bytes.size(); ++i) {
    digits = bytes[i] >= '0' && bytes[i] <= '9' ? digits + 1 : 0;
    if (digits > 4 || bytes[i] == 'e' || bytes[i] == 'x') return;
  }
  Try([&] { cli::ArrayOf(cli::ParsePythonLiteral(bytes)); });
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sextant::fuzz::TestOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
