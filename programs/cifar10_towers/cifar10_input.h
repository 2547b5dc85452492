// The binary files of CIFAR-10 as batches, by readers and queues.
#pragma once

#include <string>

#include "sextant/sextant.h"

namespace cifar10 {

constexpr int64_t kImageSize = 24;  // the images are 32x32; crops of this size are used
constexpr int64_t kTrainImages = 50000;
constexpr int64_t kEvalImages = 10000;

// The collection of a bool for each queue that one thread fills: whether it is full. What a full
// queue gives depends on its seed alone, so waiting for that makes two runs equal.
constexpr const char* kQueueIsFull = "queue_is_full";

struct Batch {
  sextant::Output images;  // float [batch, 24, 24, 3]
  sextant::Output labels;  // int32 [batch]
};

struct InputOptions {
  std::string data_dir;  // of cifar-10-batches-bin
  int64_t batch_size = 128;
  int64_t num_threads = 16;  // that fill the queue; one: see kQueueIsFull
};

// Images of data_batch_1.bin to data_batch_5.bin, cropped at random, flipped, of random brightness
// and contrast, standardised, in random order. Throws INVALID_ARGUMENT without a data_dir,
// NOT_FOUND and DATA_LOSS for files that are missing or no CIFAR-10.
Batch DistortedInputs(const InputOptions& options);
// The middles of the images of test_batch.bin, or of the training files.
Batch Inputs(bool eval_data, const InputOptions& options);

// Images and labels that are made up in each step, to measure what a step needs.
Batch MadeUpBatch(int64_t batch_size);

// Downloads cifar-10-binary.tar.gz to data_dir and unpacks it, unless that was done before.
void MaybeDownloadAndExtract(const std::string& data_dir);

}  // namespace cifar10
