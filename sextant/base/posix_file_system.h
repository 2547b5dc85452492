// The file system of the local disk.
#pragma once

#include <memory>

#include "sextant/base/file_system.h"

namespace sextant {

// Takes plain paths and file:// paths.
std::unique_ptr<FileSystem> NewPosixFileSystem();

}  // namespace sextant
