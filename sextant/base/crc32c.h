// CRC32C (Castagnoli), the checksum of TFRecord files and checkpoints.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace sextant {

// The CRC of A + data, where `crc` is that of A.
uint32_t ExtendCrc32c(uint32_t crc, std::string_view data);

inline uint32_t Crc32c(std::string_view data) { return ExtendCrc32c(0, data); }

// The CRC of A + B, where B has `size` bytes: parts of a large block can be summed at the same
// time.
uint32_t JoinCrc32c(uint32_t crc_a, uint32_t crc_b, uint64_t size);

// Files store CRCs masked, because the CRC of data that holds its own CRC is a poor check.
inline constexpr uint32_t kCrc32cMaskDelta = 0xA282EAD8;
inline uint32_t MaskCrc32c(uint32_t crc) { return std::rotr(crc, 15) + kCrc32cMaskDelta; }
inline uint32_t UnmaskCrc32c(uint32_t masked) { return std::rotl(masked - kCrc32cMaskDelta, 15); }
inline uint32_t MaskedCrc32c(std::string_view data) { return MaskCrc32c(Crc32c(data)); }

namespace internal {
// The implementation for processors without a CRC32C instruction; for the test.
uint32_t ExtendCrc32cByTable(uint32_t crc, std::string_view data);
}  // namespace internal

}  // namespace sextant
