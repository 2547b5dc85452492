#include "sextant/net/token.h"

#include <grpcpp/client_context.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/utf8.h"

namespace sextant::net {
namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr size_t kLongestToken = 4096;

std::array<unsigned char, SHA256_DIGEST_LENGTH> Digest(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

}  // namespace

void CheckToken(std::string_view token, std::string_view source) {
  constexpr std::string_view kMayBe =
      "a token is one line of up to 4096 ASCII letters, digits and signs, without spaces";
  if (token.empty()) throw InvalidArgument("{} holds no token: {}", source, kMayBe);
  if (token.size() > kLongestToken)
    throw InvalidArgument("{}: the token has {} bytes: {}", source, token.size(), kMayBe);
  const auto wrong =
      std::ranges::find_if(token, [](char byte) { return byte < '!' || byte > '~'; });
  if (wrong != token.end()) {
    throw InvalidArgument("{}: byte {} of the token cannot be in one: {}", source,
                          wrong - token.begin() + 1, kMayBe);
  }
}

Token::Token(const CredentialOptions& options) {
  if (options.token_file.empty()) return;
  const std::string bytes = FileSystem::ForPath(options.token_file).ReadFile(options.token_file);
  const std::string_view text = WithoutByteOrderMark(bytes);
  value_ = text.substr(0, text.find_first_of("\r\n"));
  CheckToken(value_, options.token_file);
}

void Token::AddTo(grpc::ClientContext& context) const {
  if (!value_.empty()) context.AddMetadata(kAuthorizationKey, std::string(kBearer) + value_);
}

bool Token::Matches(std::string_view authorization) const {
  if (value_.empty()) return true;
  if (!authorization.starts_with(kBearer)) return false;
  // Digests have one length, so that the time tells nothing of the token's.
  const auto wanted = Digest(value_), got = Digest(authorization.substr(kBearer.size()));
  return CRYPTO_memcmp(wanted.data(), got.data(), wanted.size()) == 0;
}

}  // namespace sextant::net
