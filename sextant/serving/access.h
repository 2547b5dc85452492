// Access: who may ask which model, and who may change what is served.
//
// A token file has a line per token: the token and, behind it, the names of the models it is for;
// none: all. '#' begins a comment. Clients send "Authorization: Bearer TOKEN". The file of the
// admin token has one token on its first line.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::serving {

struct AccessOptions {
  std::string token_file;        // "": models are open to all
  std::string admin_token_file;  // "": nobody may change what is served
  // Where models of a new configuration may be; a path lies in a root when its parts begin with
  // the root's.
  std::vector<std::string> roots;
};

// Thread-safe. Nothing here prints a token.
class Access {
 public:
  // Throws NOT_FOUND or INVALID_ARGUMENT, naming the file.
  explicit Access(const AccessOptions& options);
  // Reads the files again. Throws as the constructor, and keeps what it had.
  void Reload();

  // "authorization" is the value of the header. Throws UNAUTHENTICATED without a known token,
  // PERMISSION_DENIED when it is for other models.
  void CheckModel(std::string_view authorization, std::string_view model) const;
  // Throws PERMISSION_DENIED.
  void CheckAdmin(std::string_view authorization) const;
  // Throws PERMISSION_DENIED for a path outside of the roots.
  void CheckBasePath(const std::string& path) const;

 private:
  struct Tokens;
  std::shared_ptr<const Tokens> tokens() const {
    const std::lock_guard lock(mutex_);
    return tokens_;
  }

  const AccessOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Tokens> tokens_;
};

}  // namespace sextant::serving
