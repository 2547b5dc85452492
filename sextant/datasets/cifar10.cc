#include "sextant/datasets/cifar10.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <optional>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/datasets/archive.h"
#include "sextant/datasets/pickle.h"
#include "sextant/datasets/steps.h"
#include "sextant/datasets/synthetic.h"

namespace sextant::datasets {
namespace {

constexpr int64_t kImageBytes = 3 * 32 * 32;
constexpr uint64_t kMaxBatchBytes = 64 << 20;  // twice what a batch has

constexpr int kBatches = 6;
constexpr std::array<const char*, kBatches> kBatchNames = {
    "data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"};

const PublishedFile kArchive = {
    .name = "cifar-10-python.tar.gz",
    .urls = {"https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"},
    .size = 170498071,
    .digest = "md5:c58f30108f718f92721af3b95e74349a",
};

using Batches = std::array<std::optional<LabelledImages>, kBatches>;

// Adds a file if its name is that of a batch, with or without ".bin".
void AddBatch(const std::string& path, const std::function<std::string()>& read, Batches& batches) {
  std::string_view name = BaseName(path);
  const bool binary = name.ends_with(".bin");
  if (binary) name.remove_suffix(4);
  for (int i = 0; i < kBatches; ++i) {
    if (name != kBatchNames[i] || batches[i]) continue;
    ThrowIfInterrupted();
    const std::string bytes = read();
    batches[i] = binary ? ParseCifarBinary(bytes, path) : ParseCifarPickle(bytes, path);
    CheckLabels(*batches[i], path);
  }
}

void ReadArchive(const std::string& path, Batches& batches, std::ostream& out) {
  out << fmt::format("Extracting {}\n", path) << std::flush;
  ArchiveReader archive(path);
  while (archive.Next()) {
    AddBatch(
        archive.name(), [&] { return archive.Read(kMaxBatchBytes); }, batches);
  }
}

// Looks where the authors' archives put their files, too.
bool ReadFolder(const std::string& folder, Batches& batches, std::ostream& out) {
  FileSystem& fs = FileSystem::ForPath(folder);
  for (const char* below : {"", "cifar-10-batches-py", "cifar-10-batches-bin"}) {
    const std::string place = *below == '\0' ? folder : JoinPath(folder, below);
    for (const char* batch : kBatchNames) {
      for (const char* suffix : {"", ".bin"}) {
        const std::string path = JoinPath(place, fmt::format("{}{}", batch, suffix));
        if (!fs.Exists(path)) continue;
        if (fs.Stat(path).size > kMaxBatchBytes) throw DataLoss("{} is too large", path);
        AddBatch(
            path, [&] { return fs.ReadFile(path); }, batches);
      }
    }
    if (batches[0]) return true;
  }
  for (const char* name : {"cifar-10-python.tar.gz", "cifar-10-binary.tar.gz"}) {
    const std::string path = JoinPath(folder, name);
    if (!fs.Exists(path)) continue;
    ReadArchive(path, batches, out);
    return true;
  }
  return false;
}

Batches ReadBatches(const DataOptions& options, std::ostream& out) {
  Batches batches;
  std::string from = options.from;
  if (from.empty()) {
    from = Fetch(kArchive, options, out);
  } else if (FileSystem::ForPath(from).Stat(from).is_directory) {
    if (!ReadFolder(from, batches, out)) {
      throw NotFound(
          "{} holds neither data_batch_1 nor data_batch_1.bin nor an archive of CIFAR-10", from);
    }
    from.clear();
  }
  if (!from.empty()) ReadArchive(from, batches, out);
  for (int i = 0; i < kBatches; ++i) {
    if (!batches[i]) {
      throw NotFound("{} has no {}", options.from.empty() ? from : options.from, kBatchNames[i]);
    }
  }
  return batches;
}

}  // namespace

LabelledImages ParseCifarPickle(std::string_view bytes, const std::string& name) {
  const Pickle pickle(bytes, name);
  const ByteMatrix data = pickle.Bytes(pickle.Get(pickle.root(), "data"));
  const std::vector<int64_t> labels = pickle.Ints(pickle.Get(pickle.root(), "labels"));
  if (data.columns != kImageBytes || data.rows != static_cast<int64_t>(labels.size())) {
    throw DataLoss("{} has {} labels for {} images of {} bytes", name, labels.size(), data.rows,
                   data.columns);
  }
  LabelledImages images{.image_bytes = kImageBytes, .pixels = std::string(data.bytes)};
  for (const int64_t label : labels) {
    images.labels.push_back(static_cast<char>(label < 0 || label > 255 ? 255 : label));
  }
  return images;
}

LabelledImages ParseCifarBinary(std::string_view bytes, const std::string& name) {
  constexpr size_t kRecord = 1 + kImageBytes;
  if (bytes.empty() || bytes.size() % kRecord != 0) {
    throw DataLoss("{} has {} bytes, no multiple of {}", name, bytes.size(), kRecord);
  }
  LabelledImages images{.image_bytes = kImageBytes};
  images.pixels.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size(); i += kRecord) {
    images.labels.push_back(bytes[i]);
    images.pixels.append(bytes.substr(i + 1, kImageBytes));
  }
  return images;
}

void MakeCifar10(const DataOptions& options, std::ostream& out) {
  LabelledImages train, validation, eval;
  if (options.synthetic) {
    train = SyntheticCifar10(CountOr(options.train, 40000), options.seed, 0);
    validation = SyntheticCifar10(CountOr(options.validation, 10000), options.seed, 1);
    eval = SyntheticCifar10(CountOr(options.eval, 10000), options.seed, 2);
  } else {
    Batches batches = ReadBatches(options, out);
    for (int i = 0; i < 4; ++i) {
      train.Append(*batches[i]);
      batches[i].reset();
    }
    validation = std::move(*batches[4]);
    eval = std::move(*batches[5]);
  }
  WriteSplit(train, options.train, "train", options.out, out);
  WriteSplit(validation, options.validation, "validation", options.out, out);
  WriteSplit(eval, options.eval, "eval", options.out, out);
  out << "Done!\n";
}

}  // namespace sextant::datasets
