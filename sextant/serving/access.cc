#include "sextant/serving/access.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/printable.h"
#include "sextant/base/utf8.h"
#include "sextant/net/token.h"

namespace sextant::serving {
namespace {

// Takes the same time wherever the texts differ.
bool SameSecret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned char>(given[i] ^ secret[i % secret.size()]);
  }
  return difference == 0;
}

std::string_view BearerToken(std::string_view authorization) {
  constexpr std::string_view kBearer = "bearer ";
  if (authorization.size() < kBearer.size()) return {};
  for (size_t i = 0; i < kBearer.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(authorization[i])) != kBearer[i]) return {};
  }
  return authorization.substr(kBearer.size());
}

std::vector<std::vector<std::string>> WordsOfLines(const std::string& path) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream text(
      std::string(WithoutByteOrderMark(FileSystem::ForPath(path).ReadFile(path))));
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<std::string> found;
    for (std::string word; words >> word;) found.push_back(word);
    if (!found.empty()) lines.push_back(std::move(found));
  }
  if (lines.empty()) throw InvalidArgument("{} holds no token", path);
  return lines;
}

}  // namespace

struct Access::Tokens {
  struct Entry {
    std::string token;
    std::set<std::string, std::less<>> models;  // none: all
  };
  std::vector<Entry> entries;
  std::string admin;
};

Access::Access(const AccessOptions& options) : options_(options) { Reload(); }

void Access::Reload() {
  auto next = std::make_shared<Tokens>();
  if (!options_.token_file.empty()) {
    for (const auto& words : WordsOfLines(options_.token_file)) {
      net::CheckToken(words[0], options_.token_file);
      next->entries.push_back({words[0], {words.begin() + 1, words.end()}});
    }
  }
  if (!options_.admin_token_file.empty()) {
    next->admin = WordsOfLines(options_.admin_token_file)[0][0];
    net::CheckToken(next->admin, options_.admin_token_file);
  }
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(next);
}

void Access::CheckModel(std::string_view authorization, std::string_view model) const {
  if (options_.token_file.empty()) return;
  const std::string_view given = BearerToken(authorization);
  const auto known = tokens();
  bool found = false;
  for (const Tokens::Entry& entry : known->entries) {
    if (given.empty() || !SameSecret(given, entry.token)) continue;
    if (entry.models.empty() || entry.models.contains(model)) return;
    found = true;
  }
  if (found) {
    throw MakeError<Code::kPermissionDenied>("the token is not for model '{}'", ShownName(model));
  }
  throw MakeError<Code::kUnauthenticated>(
      "a token is needed: send the header \"Authorization: Bearer TOKEN\"");
}

void Access::CheckAdmin(std::string_view authorization) const {
  const auto known = tokens();
  const std::string_view given = BearerToken(authorization);
  if (!known->admin.empty() && !given.empty() && SameSecret(given, known->admin)) return;
  throw Error(Code::kPermissionDenied,
              known->admin.empty()
                  ? "the server takes no new configuration: start it with --admin_token_file"
                  : "the admin token is needed");
}

void Access::CheckBasePath(const std::string& path) const {
  namespace fs = std::filesystem;
  const auto parts = [](const std::string& text) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(text, error);
    return error ? fs::path(text).lexically_normal() : whole;
  };
  const fs::path wanted = parts(path);
  for (const std::string& text : options_.roots) {
    const fs::path root = parts(text);
    if (std::mismatch(root.begin(), root.end(), wanted.begin(), wanted.end()).first == root.end()) {
      return;
    }
  }
  throw MakeError<Code::kPermissionDenied>(
      "{} lies outside of the directories that models may be in", ShownName(path));
}

}  // namespace sextant::serving
