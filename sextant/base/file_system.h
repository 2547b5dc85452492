// FileSystem: files by path, on disk, in memory or elsewhere. The scheme of a path ("gs://...")
// chooses the file system; no scheme and file:// mean the local disk.
//
// Every function throws Error with the path in the message: NOT_FOUND, ALREADY_EXISTS,
// PERMISSION_DENIED, RESOURCE_EXHAUSTED (disk full), FAILED_PRECONDITION (directory not empty, not
// a directory ...) or UNKNOWN. File systems are thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

// An open file. ReadAt may be called by several threads at once, Read by one. A pipe can only be
// read on: other offsets throw FAILED_PRECONDITION.
class SEXTANT_API FileReader {
 public:
  virtual ~FileReader() = default;

  // Reads at most dst.size() bytes at `offset` and returns how many: possibly fewer than asked for,
  // 0 only at the end of the file (or when dst is empty).
  virtual size_t ReadAt(uint64_t offset, std::span<char> dst) = 0;
  virtual const std::string& path() const = 0;

  // Fills dst, or throws OUT_OF_RANGE when the file ends before.
  void ReadExactlyAt(uint64_t offset, std::span<char> dst);

  // Reads on from position() until dst is full or the file ends, and returns the bytes read.
  size_t Read(std::span<char> dst);
  // The same, but of a pipe only what has come, at least one byte: 0 at the end.
  size_t ReadSome(std::span<char> dst);
  uint64_t position() const { return position_; }
  void Seek(uint64_t position) { position_ = position; }

 private:
  uint64_t position_ = 0;
};

// A file being written by one thread. Destroying it closes it and ignores errors: call Close.
class SEXTANT_API FileWriter {
 public:
  virtual ~FileWriter() = default;
  virtual void Append(std::string_view data) = 0;  // behind what is written
  // A hint that Sync will be called in the end: what is appended from now on goes to disk
  // meanwhile, so that little is left to wait for.
  virtual void ExpectSync() {}
  // Hands buffered data over, so that readers see it.
  virtual void Flush() = 0;
  // Flushes and returns when the data would survive a loss of power.
  virtual void Sync() = 0;
  // Flushes and closes. Further calls do nothing.
  virtual void Close() = 0;
};

struct SEXTANT_API FileInfo {
  uint64_t size = 0;
  bool is_directory = false;
  int64_t mtime_ns = 0;  // since the epoch
};

class SEXTANT_API FileSystem {
 public:
  virtual ~FileSystem() = default;

  // The file system of the path's scheme; UNIMPLEMENTED when there is none.
  static FileSystem& ForPath(std::string_view path);
  // Adds a file system for paths that begin with `scheme` + "://"; ALREADY_EXISTS when there is
  // one.
  static void Register(std::string scheme, std::unique_ptr<FileSystem> file_system);

  virtual std::unique_ptr<FileReader> NewReader(const std::string& path) = 0;  // NOT_FOUND if none
  // Creates the file or, unless `append`, empties it.
  virtual std::unique_ptr<FileWriter> NewWriter(const std::string& path, bool append = false) = 0;
  virtual FileInfo Stat(const std::string& path) = 0;
  // The sorted names of a directory's entries, without "." and "..".
  virtual std::vector<std::string> ListDirectory(const std::string& path) = 0;
  // Creates a directory and those above it. Existing ones are fine.
  virtual void CreateDirectories(const std::string& path) = 0;
  // Replaces the file `to` atomically if it exists.
  virtual void Rename(const std::string& from, const std::string& to) = 0;
  // Deletes a file or an empty directory.
  virtual void Delete(const std::string& path) = 0;
  // Makes creations and renames in the directory survive a loss of power.
  virtual void SyncDirectory(const std::string& path) = 0;

  // False when nothing is there; throws when that cannot be known.
  bool Exists(const std::string& path);
  // Deletes the directory with all that is in it, or the file.
  void DeleteRecursively(const std::string& path);
  std::string ReadFile(const std::string& path);
  // Writes a file that is there with all of `contents`, or else is as it was, at any moment and
  // after any crash: by a temporary file beside it, synced and renamed.
  void WriteFileAtomically(const std::string& path, std::string_view contents);
  // The existing paths that match, sorted. In each part between slashes, * stands for any
  // characters, ? for one, [a-c] for one of a set; \ takes the next character as it is.
  std::vector<std::string> Glob(const std::string& pattern);
};

// "a/b" for ("a", "b"), with one slash between; `name` itself when it is absolute or has a scheme.
std::string JoinPath(std::string_view directory, std::string_view name);
// What is before the last slash; "" when there is none, and "/" or "scheme://" stay whole.
std::string_view DirectoryName(std::string_view path);
// What is after the last slash.
std::string_view BaseName(std::string_view path);
// The scheme of "scheme://rest"; "" when there is none.
std::string_view PathScheme(std::string_view path);

}  // namespace sextant

#pragma GCC visibility pop
