// WorkFolder: a new folder for the files of a measurement; it goes with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "sextant/base/error.h"

namespace sextant::bench {

class WorkFolder {
 public:
  WorkFolder() : path_(std::filesystem::temp_directory_path() / "sextant-bench-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw Internal("cannot make a folder like {}", path_);
  }
  ~WorkFolder() { std::filesystem::remove_all(path_); }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sextant::bench
