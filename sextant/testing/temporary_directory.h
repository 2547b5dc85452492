// TemporaryDirectory: a new directory that goes, with all that is in it, when the object does.
#pragma once

#include <filesystem>
#include <string>

#include "sextant/base/temporary_file.h"

namespace sextant {

class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(NewTemporaryDirectory()) {}
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace sextant
