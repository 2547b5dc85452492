// `sextant data mnist`: the authors' four idx files as train, validation and test.tfrecords.
#pragma once

#include <ostream>

#include "sextant/cli/data/options.h"

namespace sextant::cli {

// The first 5,000 of the 60,000 training images are the validation set, the others are train; test
// are the 10,000 of the t10k files. Prints what it does to `out`.
void MakeMnist(const DataOptions& options, std::ostream& out);

}  // namespace sextant::cli
