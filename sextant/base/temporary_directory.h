// Directories for what need not last.
#pragma once

#include <string>

namespace sextant {

// Makes a directory in "parent", else in the one that TMPDIR names, else in /tmp, and returns its
// path. Throws FAILED_PRECONDITION, naming it, when that cannot be done.
std::string NewTemporaryDirectory(const std::string& parent = "");

// One that goes, with all that is in it, when the object does.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& parent = "")
      : path_(NewTemporaryDirectory(parent)) {}
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace sextant
