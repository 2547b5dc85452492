// A file that appears whole or not at all: what is appended goes to a temporary file beside it,
// which Close syncs and renames. Destroyed before, or after an error, it leaves nothing behind.
#pragma once

#include <memory>
#include <string>

#include "sextant/base/file_system.h"

namespace sextant {

// Readers of `path` see nothing of it before Close. Flush and Sync act on the temporary file. The
// file system must outlive the writer.
std::unique_ptr<FileWriter> NewAtomicWriter(FileSystem& file_system, const std::string& path);

}  // namespace sextant
