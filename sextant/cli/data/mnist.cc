#include "sextant/cli/data/mnist.h"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/cli/data/idx.h"
#include "sextant/cli/data/steps.h"
#include "sextant/cli/data/synthetic.h"

namespace sextant::cli {
namespace {

constexpr int64_t kSide = 28;
constexpr int64_t kValidation = 5000;

// The authors' page, and the copy of it that TensorFlow's own loader reads.
PublishedFile MnistFile(const std::string& name, uint64_t size, const std::string& digest) {
  return {.name = name,
          .urls = {"http://yann.lecun.com/exdb/mnist/" + name,
                   "https://storage.googleapis.com/cvdf-datasets/mnist/" + name},
          .size = size,
          .digest = "md5:" + digest};
}

struct Files {
  PublishedFile images;
  PublishedFile labels;
};

Files TrainFiles() {
  return {MnistFile("train-images-idx3-ubyte.gz", 9912422, "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
          MnistFile("train-labels-idx1-ubyte.gz", 28881, "d53e105ee54ea40749a09fcbcd1e9432")};
}

Files TestFiles() {
  return {MnistFile("t10k-images-idx3-ubyte.gz", 1648877, "9fb629c4189551a2d022fa330f9573f3"),
          MnistFile("t10k-labels-idx1-ubyte.gz", 4542, "ec29112dd5afa0611ce80d1b7f02629c")};
}

// The file in a folder, as published or unpacked.
std::string Locate(const PublishedFile& file, const DataOptions& options, std::ostream& out) {
  if (options.from.empty()) return Fetch(file, options, out);
  const std::string published = JoinPath(options.from, file.name);
  const std::string unpacked = published.substr(0, published.size() - 3);
  FileSystem& fs = FileSystem::ForPath(options.from);
  for (const std::string& path : {published, unpacked}) {
    if (fs.Exists(path)) return path;
  }
  throw NotFound("{} holds neither {} nor {}", options.from, file.name, BaseName(unpacked));
}

IdxArray ReadMnist(const PublishedFile& file, const DataOptions& options, std::ostream& out) {
  const std::string path = Locate(file, options, out);
  if (path.ends_with(".gz")) out << fmt::format("Extracting {}\n", path) << std::flush;
  ThrowIfInterrupted();
  return ReadIdx(path);
}

LabelledImages ReadImages(const Files& files, const DataOptions& options, std::ostream& out) {
  IdxArray images = ReadMnist(files.images, options, out);
  IdxArray labels = ReadMnist(files.labels, options, out);
  if (images.shape.size() != 3 || images.shape[1] != kSide || images.shape[2] != kSide) {
    throw DataLoss("{} holds no images of 28 x 28 pixels", files.images.name);
  }
  if (labels.shape != std::vector<int64_t>{images.shape[0]}) {
    throw DataLoss("{} has not as many labels as {} has images", files.labels.name,
                   files.images.name);
  }
  LabelledImages result{.image_bytes = kSide * kSide,
                        .pixels = std::move(images.bytes),
                        .labels = std::move(labels.bytes)};
  CheckLabels(result, files.labels.name);
  return result;
}

void WriteIdxFiles(const LabelledImages& images, const Files& files, const DataOptions& options) {
  const auto path = [&](const PublishedFile& file) {
    return JoinPath(options.out, file.name.substr(0, file.name.size() - 3));
  };
  WriteIdx(path(files.images), {{images.size(), kSide, kSide}, images.pixels});
  WriteIdx(path(files.labels), {{images.size()}, images.labels});
}

}  // namespace

void MakeMnist(const DataOptions& options, std::ostream& out) {
  LabelledImages all, test;
  int64_t num_validation = kValidation;
  if (options.synthetic) {
    num_validation = CountOr(options.validation, kValidation);
    all = SyntheticMnist(num_validation + CountOr(options.train, 55000), options.seed, 0);
    test = SyntheticMnist(CountOr(options.eval, 10000), options.seed, 1);
  } else {
    all = ReadImages(TrainFiles(), options, out);
    test = ReadImages(TestFiles(), options, out);
  }
  num_validation = std::min(num_validation, all.size());
  LabelledImages train, validation;
  validation.Append(all, 0, num_validation);
  train.Append(all, num_validation, all.size());
  WriteSplit(train, options.train, "train", options.out, out);
  WriteSplit(validation, options.validation, "validation", options.out, out);
  WriteSplit(test, options.eval, "test", options.out, out);
  if (options.idx) {
    WriteIdxFiles(all, TrainFiles(), options);
    WriteIdxFiles(test, TestFiles(), options);
  }
  out << "Done!\n";
}

}  // namespace sextant::cli
