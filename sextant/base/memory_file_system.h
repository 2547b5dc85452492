// A file system in memory, registered for memory:// paths: for tests and for models that never
// touch a disk.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sextant/base/file_system.h"

namespace sextant {

// Behaves as the local disk does: a file needs its directory to exist, open files outlive their
// deletion. Any scheme in front of a path is ignored. Sync promises nothing.
class MemoryFileSystem : public FileSystem {
 public:
  std::unique_ptr<FileReader> NewReader(const std::string& path) override;
  std::unique_ptr<FileWriter> NewWriter(const std::string& path, bool append = false) override;
  FileInfo Stat(const std::string& path) override;
  std::vector<std::string> ListDirectory(const std::string& path) override;
  void CreateDirectories(const std::string& path) override;
  void Rename(const std::string& from, const std::string& to) override;
  void Delete(const std::string& path) override;
  void SyncDirectory(const std::string& path) override;

  struct File;

 private:
  using Entries = std::map<std::string, std::shared_ptr<File>>;

  // These need mutex_. Paths are in normal form: no scheme, "a/b/c", "" is the root.
  void RequireParent(const std::string& path);
  bool HasEntriesUnder(const std::string& directory) const;

  std::mutex mutex_;
  Entries entries_;  // a directory has no File
};

}  // namespace sextant
