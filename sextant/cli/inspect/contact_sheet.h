// The images of a record file on one sheet.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

namespace sextant::cli {

// Puts the images of the first `limit` records that have one (-1: 100) into a PNG, ten in a row. An
// image is a bytes feature that is a PNG or JPEG, or raw pixels: 3072 bytes are 32 x 32 channel by
// channel, as CIFAR-10 has them, another square number (784: MNIST) is gray. Images larger than 128
// pixels are made smaller. Throws INVALID_ARGUMENT when no record has an image.
void WriteContactSheet(const std::string& records, const std::string& png, int64_t limit,
                       std::ostream& out);

}  // namespace sextant::cli
