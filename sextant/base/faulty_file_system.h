// FaultyFileSystem: fault injection for tests: another file system, whose calls fail on demand.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sextant/base/file_system.h"

namespace sextant {

class FaultyFileSystem : public FileSystem {
 public:
  enum class Operation {
    kNewReader,
    kRead,
    kNewWriter,
    kAppend,
    kFlush,
    kSync,
    kClose,
    kStat,
    kListDirectory,
    kCreateDirectories,
    kRename,
    kDelete,
    kSyncDirectory,
  };
  struct Faults {
    // Called before each operation; what it throws is the operation's error.
    std::function<void(Operation, const std::string& path)> before;
    // No read returns more bytes at once.
    size_t max_read = std::numeric_limits<size_t>::max();
    // After n appended bytes in all, the rest of that Append is lost and Crash() called.
    uint64_t crash_after_bytes = std::numeric_limits<uint64_t>::max();
  };

  // `base` must outlive this and all files opened through it, and this those files.
  FaultyFileSystem(FileSystem& base, Faults faults) : base_(base), faults_(std::move(faults)) {}

  // From now on every operation throws UNAVAILABLE, as if the process had ended: what was written
  // stays in the base.
  void Crash() { crashed_ = true; }
  bool crashed() const { return crashed_; }

  std::unique_ptr<FileReader> NewReader(const std::string& path) override;
  std::unique_ptr<FileWriter> NewWriter(const std::string& path, bool append = false) override;
  FileInfo Stat(const std::string& path) override;
  std::vector<std::string> ListDirectory(const std::string& path) override;
  void CreateDirectories(const std::string& path) override;
  void Rename(const std::string& from, const std::string& to) override;
  void Delete(const std::string& path) override;
  void SyncDirectory(const std::string& path) override;

 private:
  class Reader;
  class Writer;

  void Enter(Operation operation, const std::string& path);

  FileSystem& base_;
  const Faults faults_;
  std::atomic<bool> crashed_{false};
  std::atomic<uint64_t> appended_{0};
};

}  // namespace sextant
