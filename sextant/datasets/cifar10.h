// `sextant data cifar10`: the authors' batches as train, validation and eval.tfrecords.
#pragma once

#include <ostream>
#include <string>

#include "sextant/datasets/labelled_images.h"
#include "sextant/datasets/options.h"

#pragma GCC visibility push(default)

namespace sextant::datasets {

// One of the authors' files of 10,000 images: 3072 bytes each, channel by channel. Both throw
// DATA_LOSS with `name` when the bytes are none.
LabelledImages ParseCifarPickle(std::string_view bytes, const std::string& name);
LabelledImages ParseCifarBinary(std::string_view bytes, const std::string& name);

// Train: batches 1 to 4, validation: batch 5, eval: the test batch. Prints what it does to `out`.
void MakeCifar10(const DataOptions& options, std::ostream& out);

}  // namespace sextant::datasets

#pragma GCC visibility pop
