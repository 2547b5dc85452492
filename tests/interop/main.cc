// interop-writer NAME FOLDER: writes files of one kind, for TensorFlow to read.
#include <fmt/format.h>

#include <string_view>

#include "sextant/base/error.h"
#include "tests/interop/writers.h"

namespace sextant::interop {
namespace {

struct Writer {
  std::string_view name;
  void (*write)(const std::string& folder);
};

const Writer kWriters[] = {
    {"checkpoints", WriteCheckpoints},
    {"estimators", WriteEstimators},
    {"events", WriteEvents},
    {"records", WriteRecords},
    {"saved_models", WriteSavedModels},
    {"trainings", WriteTrainings},
};

int Main(int argc, char** argv) {
  for (const Writer& writer : kWriters) {
    if (argc == 3 && argv[1] == writer.name) {
      writer.write(argv[2]);
      return 0;
    }
  }
  fmt::print(stderr, "usage: interop-writer NAME FOLDER\n");
  for (const Writer& writer : kWriters) fmt::print(stderr, "  {}\n", writer.name);
  return 2;
}

}  // namespace
}  // namespace sextant::interop

int main(int argc, char** argv) {
  try {
    return sextant::interop::Main(argc, argv);
  } catch (const sextant::Error& e) {
    fmt::print(stderr, "interop-writer: {}\n", e.what());
    return 1;
  }
}
