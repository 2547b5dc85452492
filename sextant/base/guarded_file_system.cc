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
  bool Refuses(const std::string& path) const {
    std::error_code error;
    const std::filesystem::path resolved = Resolve(path, error);
    return error || !IsInside(resolved);
  }

 private:
  static bool IsLink(const std::filesystem::path& path) {
    std::error_code unknown;
    return std::filesystem::is_symlink(std::filesystem::symlink_status(path, unknown));
  }

  // Where the path leads; why that is not known goes to "error".
  static std::filesystem::path Resolve(const std::string& path, std::error_code& error) {
    constexpr std::string_view kScheme = "file://";
    std::filesystem::path resolved = std::filesystem::weakly_canonical(
        path.starts_with(kScheme) ? path.substr(kScheme.size()) : path, error);
    if (!error && resolved.is_relative())
      resolved = std::filesystem::current_path(error) / resolved;
    // A link to nothing is still there: what is made by its name is where it leads.
    constexpr int kMostLinks = 40;
    for (int links = 0; !error && IsLink(resolved); ++links) {
      const std::filesystem::path target = std::filesystem::read_symlink(resolved, error);
      if (error) break;
      resolved = std::filesystem::weakly_canonical(resolved.parent_path() / target, error);
      if (links == kMostLinks)
        error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
    }
    return resolved;
  }
  static std::filesystem::path Resolve(const std::string& path) {
    std::error_code error;
    std::filesystem::path resolved = Resolve(path, error);
    if (error) throw Error(Code::kPermissionDenied, path + ": " + error.message());
    return resolved;
  }

  bool IsInside(const std::filesystem::path& resolved) const {
    return std::ranges::any_of(directories_, [&](const auto& directory) {
      const auto [end, rest] =
          std::mismatch(directory.begin(), directory.end(), resolved.begin(), resolved.end());
      return end == directory.end() || (end->empty() && std::next(end) == directory.end());
    });
  }

  const std::string& Checked(const std::string& path) const {
    if (IsInside(Resolve(path))) return path;
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

bool IsRefused(const FileSystem& files, const std::string& path) {
  const auto* guarded = dynamic_cast<const GuardedFileSystem*>(&files);
  return guarded != nullptr && guarded->Refuses(path);
}

}  // namespace sextant
