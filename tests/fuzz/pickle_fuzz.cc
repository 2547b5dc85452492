// libFuzzer target: bytes are read as a Python pickle and asked for what CIFAR-10's hold. Only
// DATA_LOSS is the right answer to bad ones, and what is found must lie in what was read.
#include <fmt/format.h>

#include <cstdlib>

#include "sextant/base/error.h"
#include "sextant/datasets/pickle.h"

namespace sextant::fuzz {
namespace {

template <typename Test>
void Try(Test test) {
  try {
    test();
  } catch (const Error& e) {
    if (e.code() == Code::kDataLoss) return;
    fmt::print(stderr, "finding: {}\n", e.what());
    std::abort();
  }
}

void Ask(const datasets::Pickle& pickle, const datasets::PickleValue& value) {
  Try([&] { pickle.Ints(value); });
  Try([&] {
    const datasets::ByteMatrix matrix = pickle.Bytes(value);
    if (matrix.rows < 0 || matrix.columns < 0 ||
        static_cast<uint64_t>(matrix.rows * matrix.columns) != matrix.bytes.size()) {
      throw Internal("a matrix of {} rows and {} columns in {} bytes", matrix.rows, matrix.columns,
                     matrix.bytes.size());
    }
    size_t sum = 0;
    for (const char byte : matrix.bytes) sum += static_cast<unsigned char>(byte);
    if (sum > 255 * matrix.bytes.size()) throw Internal("bytes beyond 255");  // all were read
  });
}

void TestOne(std::string_view bytes) {
  Try([&] {
    const datasets::Pickle pickle(bytes, "bytes");
    Ask(pickle, pickle.root());
    for (const char* key : {"data", "labels"}) {
      Try([&] { Ask(pickle, pickle.Get(pickle.root(), key)); });
    }
    for (const datasets::PickleValue* item : pickle.root().items) Ask(pickle, *item);
  });
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sextant::fuzz::TestOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
