// Checksums and encodings of bytes, by OpenSSL.
#pragma once

#include <string>
#include <string_view>

namespace sextant::cli {

// In hex. `algorithm` is "md5" or "sha256"; else INVALID_ARGUMENT.
std::string Digest(std::string_view bytes, const std::string& algorithm);
// Reads the file piece by piece.
std::string FileDigest(const std::string& path, const std::string& algorithm);

// With + and /, padded. (base/base64.h has the alphabet for URLs.)
std::string StandardBase64(std::string_view bytes);

}  // namespace sextant::cli
