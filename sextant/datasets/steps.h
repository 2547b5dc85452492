// The steps that the commands of `sextant data` share.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "sextant/datasets/download.h"
#include "sextant/datasets/labelled_images.h"
#include "sextant/datasets/options.h"

namespace sextant::datasets {

// Downloads into options.out, from options.url if given, and prints
// "Successfully downloaded <file> <n> bytes." unless the file was there. Returns its path.
std::string Fetch(const PublishedFile& file, const DataOptions& options, std::ostream& out);

// Writes <folder>/<split>.tfrecords with the first `count` images (-1: all), after the line
// "Generating <path>". Throws INVALID_ARGUMENT when there are fewer.
void WriteSplit(const LabelledImages& images, int64_t count, const std::string& split,
                const std::string& folder, std::ostream& out);

}  // namespace sextant::datasets
