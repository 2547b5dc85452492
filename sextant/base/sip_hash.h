// SipHash-2-4: a hash with a secret key, whose collisions cannot be made on purpose.
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant {

// The key is (key0, key1); equal to TensorFlow's StrongKeyedHash.
uint64_t SipHash(uint64_t key0, uint64_t key1, std::string_view bytes);

}  // namespace sextant
