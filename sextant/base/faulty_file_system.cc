#include "sextant/base/faulty_file_system.h"

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant {

class FaultyFileSystem::Reader : public FileReader {
 public:
  Reader(FaultyFileSystem& system, std::unique_ptr<FileReader> base)
      : system_(system), base_(std::move(base)) {}

  size_t ReadAt(uint64_t offset, std::span<char> dst) override {
    system_.Enter(Operation::kRead, path());
    return base_->ReadAt(offset, dst.first(std::min(dst.size(), system_.faults_.max_read)));
  }
  const std::string& path() const override { return base_->path(); }

 private:
  FaultyFileSystem& system_;
  const std::unique_ptr<FileReader> base_;
};

class FaultyFileSystem::Writer : public FileWriter {
 public:
  Writer(FaultyFileSystem& system, std::string path, std::unique_ptr<FileWriter> base)
      : system_(system), path_(std::move(path)), base_(std::move(base)) {}

  void Append(std::string_view data) override {
    system_.Enter(Operation::kAppend, path_);
    const uint64_t limit = system_.faults_.crash_after_bytes;
    const uint64_t before = std::min(limit, system_.appended_.fetch_add(data.size()));
    if (data.size() > limit - before) {
      base_->Append(data.substr(0, limit - before));
      system_.Crash();
      system_.Enter(Operation::kAppend, path_);
    }
    base_->Append(data);
  }
  void ExpectSync() override { base_->ExpectSync(); }
  void Flush() override {
    system_.Enter(Operation::kFlush, path_);
    base_->Flush();
  }
  void Sync() override {
    system_.Enter(Operation::kSync, path_);
    base_->Sync();
  }
  void Close() override {
    system_.Enter(Operation::kClose, path_);
    base_->Close();
  }

 private:
  FaultyFileSystem& system_;
  const std::string path_;
  const std::unique_ptr<FileWriter> base_;
};

void FaultyFileSystem::Enter(Operation operation, const std::string& path) {
  if (crashed_) throw Error(Code::kUnavailable, path + ": the file system has crashed");
  if (faults_.before) faults_.before(operation, path);
}

std::unique_ptr<FileReader> FaultyFileSystem::NewReader(const std::string& path) {
  Enter(Operation::kNewReader, path);
  return std::make_unique<Reader>(*this, base_.NewReader(path));
}

std::unique_ptr<FileWriter> FaultyFileSystem::NewWriter(const std::string& path, bool append) {
  Enter(Operation::kNewWriter, path);
  return std::make_unique<Writer>(*this, path, base_.NewWriter(path, append));
}

FileInfo FaultyFileSystem::Stat(const std::string& path) {
  Enter(Operation::kStat, path);
  return base_.Stat(path);
}

std::vector<std::string> FaultyFileSystem::ListDirectory(const std::string& path) {
  Enter(Operation::kListDirectory, path);
  return base_.ListDirectory(path);
}

void FaultyFileSystem::CreateDirectories(const std::string& path) {
  Enter(Operation::kCreateDirectories, path);
  base_.CreateDirectories(path);
}

void FaultyFileSystem::Rename(const std::string& from, const std::string& to) {
  Enter(Operation::kRename, from);
  base_.Rename(from, to);
}

void FaultyFileSystem::Delete(const std::string& path) {
  Enter(Operation::kDelete, path);
  base_.Delete(path);
}

void FaultyFileSystem::SyncDirectory(const std::string& path) {
  Enter(Operation::kSyncDirectory, path);
  base_.SyncDirectory(path);
}

}  // namespace sextant
