// NumPy's .npz files: zip archives of .npy files (formats/npy.h), stored or deflated.
#pragma once

#include <map>
#include <string>

#include "sextant/tensor/tensor.h"

namespace sextant::cli {

// The arrays by name. Throws DATA_LOSS, naming the path, when the archive is damaged.
std::map<std::string, Tensor> ReadNpz(const std::string& path);

// Whether these are the first bytes of a zip archive.
bool IsZip(std::string_view bytes);

}  // namespace sextant::cli
