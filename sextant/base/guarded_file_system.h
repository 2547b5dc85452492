// Restricts file access of a process to an allow-list of directories: for servers that run
// untrusted graphs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sextant/base/file_system.h"

namespace sextant {

// `inner`, but every path must lie in one of the directories, whatever links and ".." it holds:
// else PERMISSION_DENIED. Glob leaves out what it finds and may not open; what a pattern names
// before its first wildcard is no find.
std::unique_ptr<FileSystem> NewGuardedFileSystem(std::unique_ptr<FileSystem> inner,
                                                 const std::vector<std::string>& directories);

// Whether the file system is guarded and refuses the path, whatever is there.
bool IsRefused(const FileSystem& files, const std::string& path);

// From now on FileSystem::ForPath gives only guarded file systems of the local disk. Files that are
// open stay open.
void RestrictFiles(const std::vector<std::string>& directories);

}  // namespace sextant
