#include "sextant/datasets/mnist.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/datasets/idx.h"
#include "sextant/datasets/steps.h"
#include "sextant/datasets/synthetic.h"

namespace sextant::datasets {
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

std::string UnpackedName(const PublishedFile& file) {
  return file.name.substr(0, file.name.size() - 3);
}

// The file in a folder, as published or unpacked; "" when there is neither.
std::string FindIn(const std::string& folder, const PublishedFile& file) {
  for (const std::string& name : {file.name, UnpackedName(file)}) {
    std::string path = JoinPath(folder, name);
    if (FileSystem::ForPath(path).Exists(path)) return path;
  }
  return "";
}

std::string Locate(const PublishedFile& file, const DataOptions& options, std::ostream& out) {
  if (options.from.empty()) return Fetch(file, options, out);
  std::string path = FindIn(options.from, file);
  if (!path.empty()) return path;
  throw NotFound("{} holds neither {} nor {}", options.from, file.name, UnpackedName(file));
}

IdxArray ReadArray(const std::string& path, std::ostream& out) {
  if (path.ends_with(".gz")) out << fmt::format("Extracting {}\n", path) << std::flush;
  ThrowIfInterrupted();
  return ReadIdx(path);
}

using LocateFile = std::function<std::string(const PublishedFile&)>;

LabelledImages ReadImages(const Files& files, const LocateFile& locate, std::ostream& out) {
  const std::string images_path = locate(files.images);
  IdxArray images = ReadArray(images_path, out);
  const std::string labels_path = locate(files.labels);
  IdxArray labels = ReadArray(labels_path, out);
  if (images.shape.size() != 3 || images.shape[0] == 0 || images.shape[1] != kSide ||
      images.shape[2] != kSide) {
    throw DataLoss("{} holds no images of 28 x 28 pixels", images_path);
  }
  if (labels.shape != std::vector<int64_t>{images.shape[0]}) {
    throw DataLoss("{} has not as many labels as {} has images", labels_path, images_path);
  }
  LabelledImages result{.image_bytes = kSide * kSide,
                        .pixels = std::move(images.bytes),
                        .labels = std::move(labels.bytes)};
  CheckLabels(result, labels_path);
  return result;
}

void WriteIdxFiles(const LabelledImages& images, const Files& files, const DataOptions& options) {
  const auto path = [&](const PublishedFile& file) {
    return JoinPath(options.out, UnpackedName(file));
  };
  WriteIdx(path(files.images), {{images.size(), kSide, kSide}, images.pixels});
  WriteIdx(path(files.labels), {{images.size()}, images.labels});
}

}  // namespace

MnistSets ReadMnist(const std::string& folder, std::ostream& out, int64_t num_validation) {
  const auto locate = [&](const PublishedFile& file) {
    const std::string path = FindIn(folder, file);
    return path.empty() ? Fetch(file, {.out = folder}, out) : path;
  };
  const LabelledImages all = ReadImages(TrainFiles(), locate, out);
  if (num_validation < 0 || num_validation > all.size()) {
    throw InvalidArgument("{} images are wanted for validation, but there are {} for training",
                          num_validation, all.size());
  }
  MnistSets sets;
  sets.validation.Append(all, 0, num_validation);
  sets.train.Append(all, num_validation, all.size());
  sets.test = ReadImages(TestFiles(), locate, out);
  return sets;
}

void MakeMnist(const DataOptions& options, std::ostream& out) {
  LabelledImages all, test;
  int64_t num_validation = kValidation;
  if (options.synthetic) {
    num_validation = CountOr(options.validation, kValidation);
    all = SyntheticMnist(num_validation + CountOr(options.train, 55000), options.seed, 0);
    test = SyntheticMnist(CountOr(options.eval, 10000), options.seed, 1);
  } else {
    const auto locate = [&](const PublishedFile& file) { return Locate(file, options, out); };
    all = ReadImages(TrainFiles(), locate, out);
    test = ReadImages(TestFiles(), locate, out);
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

}  // namespace sextant::datasets
