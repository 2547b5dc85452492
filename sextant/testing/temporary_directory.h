// TemporaryDirectory: a new directory that goes, with all that is in it, when the object does.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "sextant/base/error.h"

namespace sextant {

class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(std::filesystem::temp_directory_path() / "sextant-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw Internal("cannot make a directory like {}", path_);
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sextant
