#include "sextant/base/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"

namespace sextant {
namespace {

constexpr size_t kWriteBuffer = 64 * 1024;
constexpr uint64_t kReserveFrom = 4 << 20;
constexpr uint64_t kMaxReserve = 64 << 20;
constexpr uint64_t kWriteback = 8 << 20;  // worth a request to the disk
constexpr std::string_view kFileScheme = "file://";

Code CodeOfErrno(int number) {
  switch (number) {
    case ENOENT:
      return Code::kNotFound;
    case EEXIST:
      return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EFBIG:
      return Code::kResourceExhausted;
    case ENOTDIR:
    case EISDIR:
    case ENOTEMPTY:
    case EBUSY:
    case EXDEV:
    case ETXTBSY:
      return Code::kFailedPrecondition;
    case ENAMETOOLONG:
    case EINVAL:
    case ELOOP:
      return Code::kInvalidArgument;
    default:
      return Code::kUnknown;
  }
}

[[noreturn]] void ThrowErrno(std::string_view path, std::string_view action) {
  const int number = errno;
  throw Error(CodeOfErrno(number), fmt::format("{}: cannot {}: {}", path, action,
                                               std::generic_category().message(number)));
}

std::string LocalPath(std::string_view path) {
  if (path.starts_with(kFileScheme)) path.remove_prefix(kFileScheme.size());
  return std::string(path);
}

// Calls again while signals interrupt.
template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : fd_(Retry([&] { return open(LocalPath(path).c_str(), flags | O_CLOEXEC, 0666); })) {
    if (fd_ < 0) ThrowErrno(path, "open");
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

FileInfo InfoOf(const struct stat& data) {
  return {.size = static_cast<uint64_t>(data.st_size),
          .is_directory = S_ISDIR(data.st_mode),
          .mtime_ns = data.st_mtim.tv_sec * 1'000'000'000LL + data.st_mtim.tv_nsec};
}

// To open a pipe takes until somebody writes to it, unless it is asked not to block; ReadPipe waits
// then, and can be cancelled.
int ReadFlags(const std::string& path) {
  struct stat data;
  const bool fifo = stat(LocalPath(path).c_str(), &data) == 0 && S_ISFIFO(data.st_mode);
  return fifo ? O_RDONLY | O_NONBLOCK : O_RDONLY;
}

class PosixReader : public FileReader {
 public:
  explicit PosixReader(const std::string& path)
      : path_(path),
        file_(path, ReadFlags(path)),
        is_pipe_(lseek(file_.get(), 0, SEEK_CUR) < 0 && errno == ESPIPE) {}

  size_t ReadAt(uint64_t offset, std::span<char> dst) override {
    if (is_pipe_) return ReadPipe(offset, dst);
    const ssize_t got = Retry(
        [&] { return pread(file_.get(), dst.data(), dst.size(), static_cast<off_t>(offset)); });
    if (got < 0) ThrowErrno(path_, fmt::format("read at offset {}", offset));
    return static_cast<size_t>(got);
  }
  const std::string& path() const override { return path_; }

 private:
  size_t ReadPipe(uint64_t offset, std::span<char> dst) {
    if (offset != taken_) {
      throw FailedPrecondition("{}: a pipe is read once, from its beginning on; save it to a file",
                               path_);
    }
    ssize_t got = 0;
    do {
      WaitReadable(file_.get());
      got = Retry([&] { return read(file_.get(), dst.data(), dst.size()); });
    } while (got < 0 && errno == EAGAIN);
    if (got < 0) ThrowErrno(path_, fmt::format("read at offset {}", offset));
    taken_ += static_cast<uint64_t>(got);
    return static_cast<size_t>(got);
  }

  const std::string path_;
  Descriptor file_;
  const bool is_pipe_;
  uint64_t taken_ = 0;  // of a pipe
};

class PosixWriter : public FileWriter {
 public:
  PosixWriter(const std::string& path, bool append)
      : path_(path),
        file_(path, O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC)),
        may_reserve_(!append) {}

  ~PosixWriter() override {
    try {
      Close();
    } catch (const Error&) {  // the contract: only Close tells
    }
  }

  // Writes whole buffers, so that they begin and end with pages of the file.
  void Append(std::string_view data) override {
    if (buffer_.size() + data.size() >= kWriteBuffer) {
      const size_t room = kWriteBuffer - buffer_.size();
      buffer_.append(data.substr(0, room));
      data.remove_prefix(room);
      Flush();
      const size_t whole = data.size() / kWriteBuffer * kWriteBuffer;
      Write(data.substr(0, whole));
      data.remove_prefix(whole);
    }
    if (buffer_.capacity() < kWriteBuffer) buffer_.reserve(kWriteBuffer);
    buffer_.append(data);
  }

  void ExpectSync() override { early_writeback_ = true; }

  void Flush() override {
    try {
      Write(buffer_);
    } catch (...) {  // the same bytes must not be written twice
      buffer_.clear();
      throw;
    }
    buffer_.clear();
  }

  void Sync() override {
    Flush();
    if (Retry([&] { return fsync(file_.get()); }) < 0) ThrowErrno(path_, "sync");
  }

  void Close() override {
    if (closed_) return;
    closed_ = true;
    Flush();
    ReleaseRest();
    if (close(file_.release()) < 0 && errno != EINTR) ThrowErrno(path_, "close");
  }

 private:
  void Write(std::string_view data) {
    Reserve(data.size());
    while (!data.empty()) {
      const std::string_view piece = data.substr(0, kWriteback);
      const ssize_t done = Retry([&] { return write(file_.get(), piece.data(), piece.size()); });
      if (done < 0) ThrowErrno(path_, "write");
      data.remove_prefix(static_cast<size_t>(done));
      written_ += static_cast<uint64_t>(done);
      StartWriteback();
    }
  }

  // Has the disk work while more is copied into the page cache: all of the file that it was not yet
  // asked to write. Errors of the disk are kept for fsync, which does what this could not.
  void StartWriteback() {
    if (!early_writeback_ || written_ - started_ < kWriteback) return;
    static_cast<void>(sync_file_range(file_.get(), 0, 0, SYNC_FILE_RANGE_WRITE));
    started_ = written_;
  }

  // Takes disk blocks ahead of large files: writing into them is two to three times as fast as
  // having each page find its own (ext4). Where that is not possible, it is done without.
  void Reserve(size_t size) {
    const uint64_t end = written_ + size;
    if (!may_reserve_ || end < kReserveFrom || end <= reserved_) return;
    const uint64_t step = std::min(end, kMaxReserve);
    may_reserve_ = fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(written_),
                             static_cast<off_t>(size + step)) == 0;
    if (may_reserve_) reserved_ = end + step;
  }

  void ReleaseRest() {
    if (reserved_ <= written_) return;
    if (Retry([&] { return ftruncate(file_.get(), static_cast<off_t>(written_)); }) < 0) {
      ThrowErrno(path_, "release reserved blocks");
    }
  }

  const std::string path_;
  Descriptor file_;
  std::string buffer_;
  bool may_reserve_;
  bool early_writeback_ = false;
  uint64_t written_ = 0;   // bytes since it was opened
  uint64_t started_ = 0;   // of them, how many the disk was asked to take
  uint64_t reserved_ = 0;  // end of the blocks taken, which readers do not see
  bool closed_ = false;
};

class PosixFileSystem : public FileSystem {
 public:
  std::unique_ptr<FileReader> NewReader(const std::string& path) override {
    auto reader = std::make_unique<PosixReader>(path);
    if (Stat(path).is_directory) {
      errno = EISDIR;
      ThrowErrno(path, "open");
    }
    return reader;
  }

  std::unique_ptr<FileWriter> NewWriter(const std::string& path, bool append) override {
    return std::make_unique<PosixWriter>(path, append);
  }

  FileInfo Stat(const std::string& path) override {
    struct stat data;
    if (stat(LocalPath(path).c_str(), &data) < 0) {
      if (errno == ENOTDIR) errno = ENOENT;  // below a file there is nothing
      ThrowErrno(path, "stat");
    }
    return InfoOf(data);
  }

  std::vector<std::string> ListDirectory(const std::string& path) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(LocalPath(path).c_str()), closedir);
    if (directory == nullptr) ThrowErrno(path, "list");
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(directory.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    if (errno != 0) ThrowErrno(path, "list");
    std::sort(names.begin(), names.end());
    return names;
  }

  void CreateDirectories(const std::string& path) override {
    const std::string local = LocalPath(path);
    if (local.empty() || mkdir(local.c_str(), 0777) == 0) return;
    if (errno == ENOENT && DirectoryName(local) != local) {
      CreateDirectories(std::string(DirectoryName(local)));
      if (mkdir(local.c_str(), 0777) == 0) return;
    }
    // Somebody else may have made it, now or long ago.
    if (errno != EEXIST) ThrowErrno(path, "create directory");
    if (!Stat(path).is_directory) {
      errno = ENOTDIR;
      ThrowErrno(path, "create directory");
    }
  }

  void Rename(const std::string& from, const std::string& to) override {
    if (rename(LocalPath(from).c_str(), LocalPath(to).c_str()) < 0) {
      ThrowErrno(from, fmt::format("rename to {}", to));
    }
  }

  void Delete(const std::string& path) override {
    if (remove(LocalPath(path).c_str()) < 0) ThrowErrno(path, "delete");
  }

  void SyncDirectory(const std::string& path) override {
    const Descriptor directory(LocalPath(path).empty() ? "." : path, O_RDONLY | O_DIRECTORY);
    // Some file systems cannot sync directories and say EINVAL.
    if (Retry([&] { return fsync(directory.get()); }) < 0 && errno != EINVAL) {
      ThrowErrno(path, "sync directory");
    }
  }
};

}  // namespace

std::unique_ptr<FileSystem> NewPosixFileSystem() { return std::make_unique<PosixFileSystem>(); }

}  // namespace sextant
