#include "sextant/base/file_system.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>

#include "sextant/base/atomic_writer.h"
#include "sextant/base/error.h"
#include "sextant/base/guarded_file_system.h"
#include "sextant/base/input_limits.h"
#include "sextant/base/memory_file_system.h"
#include "sextant/base/posix_file_system.h"

namespace sextant {
namespace {

class SchemeRegistry {
 public:
  static SchemeRegistry& Instance() {
    // Never destroyed: files may be written while statics are torn down.
    static SchemeRegistry& registry = *new SchemeRegistry();
    return registry;
  }

  FileSystem* Find(std::string_view scheme) {
    std::lock_guard lock(mutex_);
    const auto it = by_scheme_.find(scheme);
    return it == by_scheme_.end() ? nullptr : it->second.get();
  }

  void Add(std::string scheme, std::unique_ptr<FileSystem> file_system) {
    std::lock_guard lock(mutex_);
    if (by_scheme_.contains(scheme)) {
      throw AlreadyExists("there is already a file system for {}://", scheme);
    }
    by_scheme_.emplace(std::move(scheme), std::move(file_system));
  }

  void Guard(const std::vector<std::string>& directories) {
    std::lock_guard lock(mutex_);
    for (const char* scheme : {"", "file"}) {
      std::unique_ptr<FileSystem>& place = by_scheme_.find(std::string_view(scheme))->second;
      place = NewGuardedFileSystem(std::move(place), directories);
    }
  }

 private:
  SchemeRegistry() {
    by_scheme_.emplace("", NewPosixFileSystem());
    by_scheme_.emplace("file", NewPosixFileSystem());
    by_scheme_.emplace("memory", std::make_unique<MemoryFileSystem>());
  }

  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<FileSystem>, std::less<>> by_scheme_;
};

// The length of "scheme://", or of "/" at the front of a path: what DirectoryName does not cut.
size_t RootLength(std::string_view path) {
  const std::string_view scheme = PathScheme(path);
  const size_t root = scheme.empty() ? 0 : scheme.size() + 3;
  return root < path.size() && path[root] == '/' ? root + 1 : root;
}

bool HasWildcard(std::string_view part) {
  return part.find_first_of("*?[\\") != std::string_view::npos;
}

}  // namespace

void FileReader::ReadExactlyAt(uint64_t offset, std::span<char> dst) {
  size_t done = 0;
  while (done < dst.size()) {
    const size_t got = ReadAt(offset + done, dst.subspan(done));
    if (got == 0) {
      throw OutOfRange("{}: ends at offset {}, wanted {} bytes at {}", path(), offset + done,
                       dst.size(), offset);
    }
    done += got;
  }
}

size_t FileReader::Read(std::span<char> dst) {
  size_t done = 0;
  while (done < dst.size()) {
    const size_t got = ReadSome(dst.subspan(done));
    if (got == 0) break;
    done += got;
  }
  return done;
}

size_t FileReader::ReadSome(std::span<char> dst) {
  const size_t got = ReadAt(position_, dst);
  position_ += got;
  return got;
}

FileSystem& FileSystem::ForPath(std::string_view path) {
  const std::string_view scheme = PathScheme(path);
  if (FileSystem* found = SchemeRegistry::Instance().Find(scheme)) return *found;
  throw Unimplemented("{}: this build has no file system for {}:// paths", path, scheme);
}

void RestrictFiles(const std::vector<std::string>& directories) {
  SchemeRegistry::Instance().Guard(directories);
}

void FileSystem::Register(std::string scheme, std::unique_ptr<FileSystem> file_system) {
  SchemeRegistry::Instance().Add(std::move(scheme), std::move(file_system));
}

bool FileSystem::Exists(const std::string& path) {
  try {
    Stat(path);
    return true;
  } catch (const Error& e) {  // NOT_FOUND is the answer here, not an error
    if (e.code() == Code::kNotFound) return false;
    throw;
  }
}

void FileSystem::DeleteRecursively(const std::string& path) {
  try {
    Delete(path);  // first, so that a link to a directory is deleted and not followed
    return;
  } catch (const Error& e) {  // a directory that is not empty is the case below
    if (e.code() != Code::kFailedPrecondition || !Stat(path).is_directory) throw;
  }
  for (const std::string& name : ListDirectory(path)) DeleteRecursively(JoinPath(path, name));
  Delete(path);
}

std::string FileSystem::ReadFile(const std::string& path) {
  const auto reader = NewReader(path);
  std::string contents;
  size_t size = 0;
  // Special files have size 0, and a file may grow: read until the end, wherever it is.
  const uint64_t expected = Stat(path).size;
  const uint64_t most = expected > 0 ? InputLimits::Current().file : InputLimits::Current().stream;
  for (size_t room = expected + 1;;
       room = std::min(std::max<size_t>(4096, size), most + 1 - size)) {
    if (size + room > most + 1) {
      throw ResourceExhausted("{}: has {} bytes; files of up to {} can be read whole", path,
                              expected, most);
    }
    contents.resize(size + room);
    const size_t got = reader->Read(std::span(contents).subspan(size));
    size += got;
    if (got < room) break;
    if (size > most) {
      throw ResourceExhausted("{}: does not end within {} bytes, the most that is read whole", path,
                              most);
    }
  }
  contents.resize(size);
  return contents;
}

void FileSystem::WriteFileAtomically(const std::string& path, std::string_view contents) {
  const auto writer = NewAtomicWriter(*this, path);
  writer->Append(contents);
  writer->Close();
}

std::vector<std::string> FileSystem::Glob(const std::string& pattern) {
  const size_t root = RootLength(pattern);
  std::vector<std::string> matches = {pattern.substr(0, root)};
  std::string_view rest = std::string_view(pattern).substr(root);
  bool found = false;  // by a wildcard, not named
  const auto passed_over = [&](const std::string& path) { return found && IsRefused(*this, path); };
  while (!rest.empty()) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string part(rest.substr(0, slash));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (part.empty()) continue;
    std::vector<std::string> longer;
    const bool wildcard = HasWildcard(part);
    for (const std::string& directory : matches) {
      if (!wildcard) {
        longer.push_back(JoinPath(directory, part));
        continue;
      }
      const std::string listed = directory.empty() ? "." : directory;
      if (passed_over(listed) || !Exists(listed) || !Stat(listed).is_directory) continue;
      for (const std::string& name : ListDirectory(listed)) {
        if (fnmatch(part.c_str(), name.c_str(), 0) == 0)
          longer.push_back(JoinPath(directory, name));
      }
    }
    matches = std::move(longer);
    found = found || wildcard;
  }
  std::erase_if(matches, [&](const std::string& path) {
    return path.empty() || passed_over(path) || !Exists(path);
  });
  std::sort(matches.begin(), matches.end());
  return matches;
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.starts_with('/') || !PathScheme(name).empty()) {
    return std::string(name);
  }
  return fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", name);
}

std::string_view DirectoryName(std::string_view path) {
  const size_t root = RootLength(path);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash < root) return path.substr(0, root);
  return path.substr(0, slash);
}

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view PathScheme(std::string_view path) {
  const size_t colon = path.find("://");
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string_view scheme = path.substr(0, colon);
  const bool valid = std::all_of(scheme.begin(), scheme.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '+' || c == '-' || c == '.';
  });
  return valid ? scheme : std::string_view();
}

}  // namespace sextant
