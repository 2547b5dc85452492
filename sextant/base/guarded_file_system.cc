#include "sextant/base/guarded_file_system.h"

#include <algorithm>
#include <filesystem>

#include "sextant/base/error.h"

namespace sextant {
namespace {

class GuardedFileSystem : public FileSystem {
 public:
  GuardedFileSystem(std::unique_ptr<FileSystem> inner, const std::vector<std::string>& directories)
      : inner_(std::move(inner)) {
    for (const std::string& directory : directories) directories_.push_back(Resolve(directory));
  }

  std::unique_ptr<FileReader> NewReader(const std::string& path) override {
    return inner_->NewReader(Checked(path));
  }
  std::unique_ptr<FileWriter> NewWriter(const std::string& path, bool append) override {
    return inner_->NewWriter(Checked(path), append);
  }
  FileInfo Stat(const std::string& path) override { return inner_->Stat(Checked(path)); }
  std::vector<std::string> ListDirectory(const std::string& path) override {
    return inner_->ListDirectory(Checked(path));
  }
  void CreateDirectories(const std::string& path) override {
    inner_->CreateDirectories(Checked(path));
  }
  void Rename(const std::string& from, const std::string& to) override {
    inner_->Rename(Checked(from), Checked(to));
  }
  void Delete(const std::string& path) override { inner_->Delete(Checked(path)); }
  void SyncDirectory(const std::string& path) override { inner_->SyncDirectory(Checked(path)); }

 private:
  static std::filesystem::path Resolve(const std::string& path) {
    constexpr std::string_view kScheme = "file://";
    std::error_code error;
    std::filesystem::path resolved = std::filesystem::weakly_canonical(
        path.starts_with(kScheme) ? path.substr(kScheme.size()) : path, error);
    if (!error && resolved.is_relative())
      resolved = std::filesystem::current_path(error) / resolved;
    if (error) throw Error(Code::kPermissionDenied, path + ": " + error.message());
    return resolved;
  }

  const std::string& Checked(const std::string& path) const {
    const std::filesystem::path resolved = Resolve(path);
    const bool inside = std::ranges::any_of(directories_, [&](const auto& directory) {
      const auto [end, rest] =
          std::mismatch(directory.begin(), directory.end(), resolved.begin(), resolved.end());
      return end == directory.end() || (end->empty() && std::next(end) == directory.end());
    });
    if (inside) return path;
    throw Error(Code::kPermissionDenied,
                path + ": this process may open files in directories that it was told of only");
  }

  const std::unique_ptr<FileSystem> inner_;
  std::vector<std::filesystem::path> directories_;
};

}  // namespace

std::unique_ptr<FileSystem> NewGuardedFileSystem(std::unique_ptr<FileSystem> inner,
                                                 const std::vector<std::string>& directories) {
  return std::make_unique<GuardedFileSystem>(std::move(inner), directories);
}

}  // namespace sextant
