// `sextant data mnist`: the authors' four idx files as train, validation and test.tfrecords.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "sextant/base/export.h"
#include "sextant/datasets/labelled_images.h"
#include "sextant/datasets/options.h"

#pragma GCC visibility push(default)

namespace sextant::datasets {

struct SEXTANT_API MnistSets {
  LabelledImages train, validation, test;  // of 28 x 28 bytes
};
// Reads the four idx files of a folder, gzipped or not, and downloads into it those that are not
// there. The first num_validation of the training images are the validation set. Prints what it
// does to `out`. Throws INVALID_ARGUMENT when there are fewer.
MnistSets ReadMnist(const std::string& folder, std::ostream& out, int64_t num_validation = 5000);

// The first 5,000 of the 60,000 training images are the validation set, the others are train; test
// are the 10,000 of the t10k files. Prints what it does to `out`.
void MakeMnist(const DataOptions& options, std::ostream& out);

}  // namespace sextant::datasets

#pragma GCC visibility pop
