// fuzz-seeds: writes the graphs of golden op vectors, one file each, as the corpus that
// graph_def_fuzz starts from.
#include <fmt/format.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/example.h"
#include "sextant/formats/tfrecord.h"

namespace sextant::fuzz {
namespace {

int WriteSeeds(const std::string& records, const std::string& folder) {
  FileSystem& fs = FileSystem::ForPath(folder);
  fs.CreateDirectories(folder);
  int count = 0;
  for (const std::string& name : FileSystem::ForPath(records).ListDirectory(records)) {
    if (!name.ends_with(".tfrecord")) continue;
    TFRecordReader reader(records + "/" + name);
    for (std::string record; reader.Next(&record);) {
      const proto::Example example = ParseExample(record);
      for (const char* key : {"graph_def", "graph_def_with_grads"}) {
        if (!HasFeature(example, key)) continue;
        fs.WriteFileAtomically(fmt::format("{}/seed{}", folder, count++),
                               GetOneBytes(example, key));
      }
    }
  }
  return count;
}

}  // namespace
}  // namespace sextant::fuzz

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: fuzz-seeds <folder of .tfrecord files> <corpus folder>\n");
    return 2;
  }
  try {
    fmt::print("{} graphs\n", sextant::fuzz::WriteSeeds(argv[1], argv[2]));
  } catch (const sextant::Error& e) {
    fmt::print(stderr, "fuzz-seeds: {}\n", e.what());
    return 1;
  }
}
