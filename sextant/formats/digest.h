// Checksums of bytes, by OpenSSL.
#pragma once

#include <string>
#include <string_view>

namespace sextant {

// In hex. `algorithm` is "md5" or "sha256"; else INVALID_ARGUMENT.
std::string Digest(std::string_view bytes, const std::string& algorithm);
// Reads the file piece by piece.
std::string FileDigest(const std::string& path, const std::string& algorithm);

}  // namespace sextant
