#include "sextant/formats/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <memory>

#include "sextant/base/error.h"
#include "sextant/base/interrupt.h"
#include "sextant/formats/byte_source.h"

namespace sextant {
namespace {

class Hasher {
 public:
  explicit Hasher(const std::string& algorithm) : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    const EVP_MD* const method = EVP_get_digestbyname(algorithm.c_str());
    if (method == nullptr) throw InvalidArgument("no digest is called {}", algorithm);
    EVP_DigestInit_ex(context_.get(), method, nullptr);
  }

  void Add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }

  std::string Hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &size);
    std::string hex;
    for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
    return hex;
  }

 private:
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string Digest(std::string_view bytes, const std::string& algorithm) {
  Hasher hasher(algorithm);
  hasher.Add(bytes);
  return hasher.Hex();
}

std::string FileDigest(const std::string& path, const std::string& algorithm) {
  Hasher hasher(algorithm);
  const auto source = OpenFileSource(path);
  std::string buffer(1 << 20, '\0');
  while (const size_t size = source->Read(buffer)) {
    ThrowIfInterrupted();
    hasher.Add(std::string_view(buffer).substr(0, size));
  }
  return hasher.Hex();
}

}  // namespace sextant
