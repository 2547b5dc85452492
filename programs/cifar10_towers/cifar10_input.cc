#include "cifar10_towers/cifar10_input.h"

#include <fmt/format.h>

namespace sx = sextant;

namespace cifar10 {
namespace {

constexpr int64_t kHeight = 32, kWidth = 32, kDepth = 3;
constexpr int64_t kLabelBytes = 1, kImageBytes = kHeight * kWidth * kDepth;
constexpr int64_t kRecordBytes = kLabelBytes + kImageBytes;

struct Record {
  sx::Output image;  // float [32, 32, 3]
  sx::Output label;  // int32 [1]
};

std::vector<std::string> FilesOf(const std::string& data_dir, bool eval_data) {
  if (data_dir.empty()) throw sx::InvalidArgument("Please supply a data_dir");
  const std::string folder = sx::JoinPath(data_dir, "cifar-10-batches-bin");
  std::vector<std::string> files;
  for (int i = 1; i <= 5; ++i) {
    files.push_back(sx::JoinPath(folder, fmt::format("data_batch_{}.bin", i)));
  }
  if (eval_data) files = {sx::JoinPath(folder, "test_batch.bin")};
  for (const std::string& file : files) {
    sx::FileSystem& files_of = sx::FileSystem::ForPath(file);
    if (!files_of.Exists(file)) throw sx::NotFound("Failed to find file: {}", file);
    const auto size = static_cast<int64_t>(files_of.Stat(file).size);
    if (size == 0 || size % kRecordBytes != 0) {
      throw sx::DataLoss("{} has {} bytes, no multiple of the {} of a record; fetch it again", file,
                         size, kRecordBytes);
    }
  }
  return files;
}

// A label byte, then the pixels channel by channel.
Record ReadCifar10(sx::Output filename_queue) {
  const sx::Output reader = sx::FixedLengthRecordReader({.record_bytes = kRecordBytes});
  const sx::Output value = sx::ReaderRead(reader, filename_queue).value;
  const sx::Output bytes = sx::DecodeRaw(value, sx::DType::kUInt8);
  const sx::Output pixels = sx::Slice(bytes, {kLabelBytes}, {kImageBytes});
  const sx::Output depth_major = sx::Reshape(pixels, {kDepth, kHeight, kWidth});
  return {.image = sx::Cast(sx::Transpose(depth_major, {1, 2, 0}), sx::DType::kFloat),
          .label = sx::Reshape(sx::Cast(sx::Slice(bytes, {0}, {kLabelBytes}), sx::DType::kInt32),
                               {kLabelBytes})};
}

// Keeps a queue filled from threads; `least` images stay in it, so that they are mixed well.
Batch GenerateBatch(sx::Output image, sx::Output label, int64_t least, const InputOptions& options,
                    bool shuffle) {
  const sx::train::QueueBatchOptions queue{.num_threads = static_cast<int>(options.num_threads),
                                           .capacity = least + 3 * options.batch_size};
  const std::vector<sx::Output> batch =
      shuffle ? sx::train::ShuffleBatch({image, label}, options.batch_size,
                                        {.batch = queue, .min_after_dequeue = least})
              : sx::train::Batch({image, label}, options.batch_size, queue);
  if (options.num_threads == 1) {
    const sx::Output size = sx::QueueSize(batch[0].node()->input(0));
    const sx::Output capacity = sx::Const(sx::Tensor(static_cast<int32_t>(queue.capacity)));
    sx::CurrentGraph().AddToCollection(kQueueIsFull, sx::Equal(size, capacity));
  }
  sx::summaries::Image(sx::summaries::Tag{"images"}, batch[0]);
  return {.images = batch[0], .labels = sx::Reshape(batch[1], {options.batch_size})};
}

sx::Output FilenameQueue(const std::vector<std::string>& files) {
  return sx::train::StringInputProducer(sx::Const(sx::Tensor::FromVector(files)));
}

}  // namespace

Batch DistortedInputs(const InputOptions& options) {
  const auto [image, label] = ReadCifar10(FilenameQueue(FilesOf(options.data_dir, false)));
  sx::Output distorted = sx::RandomCrop(image, {kImageSize, kImageSize, kDepth});
  distorted = sx::RandomFlipLeftRight(distorted);
  distorted = sx::RandomBrightness(distorted, 63);
  distorted = sx::RandomContrast(distorted, 0.2f, 1.8f);
  const int64_t least = kTrainImages * 4 / 10;
  fmt::print(
      "Filling queue with {} CIFAR images before starting to train. This will take a few "
      "minutes.\n",
      least);
  std::fflush(stdout);
  return GenerateBatch(sx::PerImageStandardization(distorted), label, least, options, true);
}

Batch Inputs(bool eval_data, const InputOptions& options) {
  const auto [image, label] = ReadCifar10(FilenameQueue(FilesOf(options.data_dir, eval_data)));
  const sx::Output middle = sx::ResizeWithCropOrPad(image, kImageSize, kImageSize);
  const int64_t least = (eval_data ? kEvalImages : kTrainImages) * 4 / 10;
  return GenerateBatch(sx::PerImageStandardization(middle), label, least, options, false);
}

Batch MadeUpBatch(int64_t batch_size) {
  return {.images = sx::RandomNormal({batch_size, kImageSize, kImageSize, kDepth}),
          .labels = sx::Zeros({batch_size}, sx::DType::kInt32)};
}

void MaybeDownloadAndExtract(const std::string& data_dir) {
  if (data_dir.empty()) throw sx::InvalidArgument("Please supply a data_dir");
  const std::string folder = sx::JoinPath(data_dir, "cifar-10-batches-bin");
  sx::FileSystem& files = sx::FileSystem::ForPath(folder);
  if (files.Exists(folder)) return;
  const sx::datasets::PublishedFile archive_file{
      .name = "cifar-10-binary.tar.gz",
      .urls = {"https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"},
      .size = 170052171,
      .digest = "md5:c32a1d4ab5d03f1284b67883e8d87530"};
  bool was_there = false;
  const std::string path = sx::datasets::Download(archive_file, data_dir, &was_there);
  if (!was_there) {
    fmt::print("Successfully downloaded {} {} bytes.\n", archive_file.name, archive_file.size);
  }
  const std::string unfinished = folder + ".part";
  if (files.Exists(unfinished)) files.DeleteRecursively(unfinished);
  files.CreateDirectories(unfinished);
  sx::datasets::ArchiveReader archive(path);
  while (archive.Next()) {
    const std::string name(sx::BaseName(archive.name()));
    files.WriteFileAtomically(sx::JoinPath(unfinished, name), archive.Read(64 << 20));
  }
  files.Rename(unfinished, folder);
}

}  // namespace cifar10
