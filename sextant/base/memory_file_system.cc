#include "sextant/base/memory_file_system.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "sextant/base/error.h"

namespace sextant {

struct MemoryFileSystem::File {
  std::mutex mutex;
  std::string contents;
  int64_t mtime_ns = 0;
};

namespace {

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string Normal(std::string_view path) {
  if (const std::string_view scheme = PathScheme(path); !scheme.empty()) {
    path.remove_prefix(scheme.size() + 3);
  }
  std::string normal;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (!normal.empty()) normal += '/';
    normal += part;
  }
  return normal;
}

class MemoryReader : public FileReader {
 public:
  MemoryReader(std::string path, std::shared_ptr<MemoryFileSystem::File> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  size_t ReadAt(uint64_t offset, std::span<char> dst) override {
    std::lock_guard lock(file_->mutex);
    if (offset >= file_->contents.size()) return 0;
    const size_t size = std::min<size_t>(dst.size(), file_->contents.size() - offset);
    std::memcpy(dst.data(), file_->contents.data() + offset, size);
    return size;
  }
  const std::string& path() const override { return path_; }

 private:
  const std::string path_;
  const std::shared_ptr<MemoryFileSystem::File> file_;
};

class MemoryWriter : public FileWriter {
 public:
  explicit MemoryWriter(std::shared_ptr<MemoryFileSystem::File> file) : file_(std::move(file)) {}

  void Append(std::string_view data) override {
    std::lock_guard lock(file_->mutex);
    file_->contents.append(data);
    file_->mtime_ns = NowNs();
  }
  void Flush() override {}
  void Sync() override {}
  void Close() override {}

 private:
  const std::shared_ptr<MemoryFileSystem::File> file_;
};

Error NoSuchFile(std::string_view path, std::string_view action) {
  return NotFound("{}: cannot {}: No such file or directory", path, action);
}

}  // namespace

void MemoryFileSystem::RequireParent(const std::string& path) {
  const std::string parent(DirectoryName(path));
  if (parent.empty()) return;
  const auto it = entries_.find(parent);
  if (it == entries_.end()) throw NoSuchFile(parent, "use as directory");
  if (it->second != nullptr) throw FailedPrecondition("{}: Not a directory", parent);
}

bool MemoryFileSystem::HasEntriesUnder(const std::string& directory) const {
  const std::string prefix = directory + "/";
  const auto it = entries_.lower_bound(prefix);
  return it != entries_.end() && it->first.starts_with(prefix);
}

std::unique_ptr<FileReader> MemoryFileSystem::NewReader(const std::string& path) {
  const std::string normal = Normal(path);
  std::lock_guard lock(mutex_);
  const auto it = entries_.find(normal);
  if (normal.empty() || (it != entries_.end() && it->second == nullptr)) {
    throw FailedPrecondition("{}: cannot open: Is a directory", path);
  }
  if (it == entries_.end()) throw NoSuchFile(path, "open");
  return std::make_unique<MemoryReader>(path, it->second);
}

std::unique_ptr<FileWriter> MemoryFileSystem::NewWriter(const std::string& path, bool append) {
  const std::string normal = Normal(path);
  std::lock_guard lock(mutex_);
  const auto it = entries_.find(normal);
  if (normal.empty() || (it != entries_.end() && it->second == nullptr)) {
    throw FailedPrecondition("{}: cannot open: Is a directory", path);
  }
  RequireParent(normal);
  std::shared_ptr<File>& file = entries_[normal];
  if (file == nullptr) file = std::make_shared<File>();
  std::lock_guard file_lock(file->mutex);
  if (!append) file->contents.clear();
  file->mtime_ns = NowNs();
  return std::make_unique<MemoryWriter>(file);
}

FileInfo MemoryFileSystem::Stat(const std::string& path) {
  const std::string normal = Normal(path);
  std::lock_guard lock(mutex_);
  if (normal.empty()) return {.is_directory = true};
  const auto it = entries_.find(normal);
  if (it == entries_.end()) throw NoSuchFile(path, "stat");
  if (it->second == nullptr) return {.is_directory = true};
  std::lock_guard file_lock(it->second->mutex);
  return {.size = it->second->contents.size(), .mtime_ns = it->second->mtime_ns};
}

std::vector<std::string> MemoryFileSystem::ListDirectory(const std::string& path) {
  if (!Stat(path).is_directory) throw FailedPrecondition("{}: cannot list: Not a directory", path);
  std::string prefix = Normal(path);
  if (!prefix.empty()) prefix += '/';
  std::vector<std::string> names;
  std::lock_guard lock(mutex_);
  for (auto it = entries_.lower_bound(prefix);
       it != entries_.end() && it->first.starts_with(prefix); ++it) {
    std::string name = it->first.substr(prefix.size());
    if (name.find('/') == std::string::npos) names.push_back(std::move(name));
  }
  return names;
}

void MemoryFileSystem::CreateDirectories(const std::string& path) {
  const std::string normal = Normal(path);
  std::lock_guard lock(mutex_);
  for (size_t end = 0; end < normal.size();) {
    end = std::min(normal.find('/', end + 1), normal.size());
    const auto it = entries_.try_emplace(normal.substr(0, end), nullptr).first;
    if (it->second != nullptr) {
      throw FailedPrecondition("{}: cannot create directory: {} is a file", path, it->first);
    }
  }
}

void MemoryFileSystem::Rename(const std::string& from, const std::string& to) {
  const std::string source = Normal(from), target = Normal(to);
  std::lock_guard lock(mutex_);
  const auto it = entries_.find(source);
  if (it == entries_.end()) throw NoSuchFile(from, fmt::format("rename to {}", to));
  RequireParent(target);
  if (source == target) return;
  if (target.empty() || target.starts_with(source + "/")) {
    throw FailedPrecondition("{}: cannot rename to {}: not possible", from, to);
  }
  const auto old = entries_.find(target);
  if (old != entries_.end()) {
    if ((old->second == nullptr) != (it->second == nullptr) || HasEntriesUnder(target)) {
      throw FailedPrecondition("{}: cannot rename to {}, which is in the way", from, to);
    }
    entries_.erase(old);
  }
  Entries moved;
  const std::string prefix = source + "/";
  for (auto entry = entries_.lower_bound(source); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->first == source || entry->first.starts_with(prefix)) {
      auto node = entries_.extract(entry);
      node.key() = target + node.key().substr(source.size());
      moved.insert(std::move(node));
    } else if (!entry->first.starts_with(source)) {
      break;
    }
    entry = next;
  }
  entries_.merge(moved);
}

void MemoryFileSystem::Delete(const std::string& path) {
  const std::string normal = Normal(path);
  std::lock_guard lock(mutex_);
  const auto it = entries_.find(normal);
  if (it == entries_.end()) throw NoSuchFile(path, "delete");
  if (it->second == nullptr && HasEntriesUnder(normal)) {
    throw FailedPrecondition("{}: cannot delete: Directory not empty", path);
  }
  entries_.erase(it);
}

void MemoryFileSystem::SyncDirectory(const std::string&) {}

}  // namespace sextant
