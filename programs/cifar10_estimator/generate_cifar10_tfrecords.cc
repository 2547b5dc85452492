// Makes train.tfrecords, validation.tfrecords and eval.tfrecords of the authors' files of CIFAR-10.
#include <iostream>

#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

// The authors' files, or an archive of them, are there already.
bool HasFiles(const std::string& folder) {
  sx::FileSystem& files = sx::FileSystem::ForPath(folder);
  for (const char* name : {"cifar-10-batches-py", "cifar-10-batches-bin", "cifar-10-python.tar.gz",
                           "cifar-10-binary.tar.gz"}) {
    if (files.Exists(sx::JoinPath(folder, name))) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::string data_dir;
  sx::Flags flags("Makes TFRecord files of CIFAR-10, which is downloaded if need be.");
  flags.Add("data_dir", &data_dir,
            "folder of the results and of the authors' files; \"\": this one");
  return flags.Main(argc, argv, [&] {
    const std::string folder = data_dir.empty() ? "." : data_dir;
    sx::datasets::MakeCifar10({.out = folder, .from = HasFiles(folder) ? folder : ""}, std::cout);
  });
}
