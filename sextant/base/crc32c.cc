#include "sextant/base/crc32c.h"

#include <array>
#include <cstring>

namespace sextant {
namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// kTables[k][b]: the effect of byte b followed by k zero bytes.
constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0u);
    tables[0][byte] = crc;
  }
  for (int k = 1; k < 8; ++k) {
    for (int byte = 0; byte < 256; ++byte) {
      const uint32_t previous = tables[k - 1][byte];
      tables[k][byte] = (previous >> 8) ^ tables[0][previous & 0xFF];
    }
  }
  return tables;
}
constexpr Tables kTables = MakeTables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ExtendByInstruction(uint32_t crc,
                                                               std::string_view data) {
  uint64_t state = ~crc;
  const char* p = data.data();
  size_t left = data.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    state = __builtin_ia32_crc32di(state, word);
  }
  auto state32 = static_cast<uint32_t>(state);
  for (; left > 0; ++p, --left) {
    state32 = __builtin_ia32_crc32qi(state32, static_cast<unsigned char>(*p));
  }
  return ~state32;
}

bool HasInstruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#endif

}  // namespace

uint32_t internal::ExtendCrc32cByTable(uint32_t crc, std::string_view data) {
  uint32_t state = ~crc;
  const auto* p = reinterpret_cast<const unsigned char*>(data.data());
  size_t left = data.size();
  for (; left >= 8; p += 8, left -= 8) {
    state ^= p[0] | uint32_t{p[1]} << 8 | uint32_t{p[2]} << 16 | uint32_t{p[3]} << 24;
    state = kTables[7][state & 0xFF] ^ kTables[6][state >> 8 & 0xFF] ^
            kTables[5][state >> 16 & 0xFF] ^ kTables[4][state >> 24] ^ kTables[3][p[4]] ^
            kTables[2][p[5]] ^ kTables[1][p[6]] ^ kTables[0][p[7]];
  }
  for (; left > 0; ++p, --left) state = (state >> 8) ^ kTables[0][(state ^ *p) & 0xFF];
  return ~state;
}

uint32_t ExtendCrc32c(uint32_t crc, std::string_view data) {
#if defined(__x86_64__)
  if (HasInstruction()) return ExtendByInstruction(crc, data);
#endif
  return internal::ExtendCrc32cByTable(crc, data);
}

}  // namespace sextant
