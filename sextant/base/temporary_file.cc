#include "sextant/base/temporary_file.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/fingerprint.h"

namespace sextant {
namespace {

constexpr std::string_view kMark = ".tmp-";
constexpr auto kDay = std::chrono::hours(24);

// Of the machine's start and the namespace of process numbers; a random one where they are not
// known, which no other process shares.
uint64_t FindProcessSpace() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  char name[64];
  const ssize_t size = readlink("/proc/self/ns/pid", name, sizeof(name));
  if (boot.empty() || size <= 0) return std::random_device()() | uint64_t{1} << 63;
  return Fingerprint64(boot.append(name, static_cast<size_t>(size)));
}

uint64_t ProcessSpace() {
  static const uint64_t space = FindProcessSpace();
  return space;
}

bool IsStale(FileSystem& files, const std::string& path) {
  const size_t mark = path.rfind(kMark);
  if (mark == std::string::npos) return false;
  const std::string tail = path.substr(mark + kMark.size());
  unsigned long long space, number;
  int process, end = 0;
  if (std::sscanf(tail.c_str(), "%16llx-%d-%llu%n", &space, &process, &number, &end) != 3 ||
      static_cast<size_t>(end) != tail.size() || process <= 0) {
    return false;
  }
  if (space == ProcessSpace()) return kill(process, 0) < 0 && errno == ESRCH;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return now - std::chrono::nanoseconds(files.Stat(path).mtime_ns) > kDay;
}

}  // namespace

std::string TemporaryName(std::string_view path) {
  static std::atomic<uint64_t> count{0};
  return fmt::format("{}{}{:016x}-{}-{}", path, kMark, ProcessSpace(), getpid(), ++count);
}

void DeleteStaleTemporaries(FileSystem& files, const std::string& directory,
                            std::string_view base) {
  try {
    for (const std::string& name : files.ListDirectory(directory.empty() ? "." : directory)) {
      const std::string path = JoinPath(directory, name);
      if (name.starts_with(base) && IsStale(files, path)) files.DeleteRecursively(path);
    }
  } catch (const Error&) {  // somebody else may be tidying up too; the next time will do
  }
}

}  // namespace sextant
