// PendingFile: a file written under a temporary name beside its final one, in two steps: several
// files can first all be brought to disk and then be renamed in order.
#pragma once

#include <memory>
#include <string>

#include "sextant/base/file_system.h"

namespace sextant {

// Used by one thread.
class PendingFile {
 public:
  // `files` must outlive this.
  PendingFile(FileSystem& files, const std::string& final_path);
  // Deletes the file unless it was renamed.
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  FileWriter& writer() { return *writer_; }
  void SyncAndClose();
  // Puts the file in place for good: the directory is synced. REQUIRES: SyncAndClose was called.
  void Rename();

 private:
  FileSystem& files_;
  const std::string final_path_;
  const std::string path_;
  std::unique_ptr<FileWriter> writer_;
  bool renamed_ = false;
};

}  // namespace sextant
