#include "sextant/base/crc32c.h"

#include <array>
#include <cstring>

#include "sextant/base/export.h"

namespace sextant {
namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr uint32_t kPolynomial = 0x82F63B78;  // bit 31 is x^0

// kTables[k][b]: the effect of byte b followed by k zero bytes.
constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kPolynomial : 0u);
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

// The product of polynomials.
uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 0x80000000; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = (b >> 1) ^ (b & 1 ? kPolynomial : 0u);
  }
  return product;
}

#if defined(__x86_64__)
// The instruction takes three cycles but starts one each cycle: three neighbouring blocks are
// summed at once and joined, which is three times as fast.
constexpr size_t kLongBlock = 1024;
constexpr size_t kShortBlock = 128;

using Shift = std::array<std::array<uint32_t, 256>, 4>;

constexpr uint32_t AppendZero(uint32_t state) { return (state >> 8) ^ kTables[0][state & 0xFF]; }

// The effect of `zeros` zero bytes on a state, by its bytes: it is linear, so that of 32 bits makes
// that of all.
constexpr Shift MakeShift(size_t zeros) {
  Shift shift{};
  for (int k = 0; k < 4; ++k) {
    for (int bit = 0; bit < 8; ++bit) {
      uint32_t state = 1u << (8 * k + bit);
      for (size_t i = 0; i < zeros; ++i) state = AppendZero(state);
      for (int byte = 0; byte < 256; ++byte) {
        if (byte >> bit & 1) shift[k][byte] ^= state;
      }
    }
  }
  return shift;
}
constexpr Shift kLongShift = MakeShift(kLongBlock);
constexpr Shift kShortShift = MakeShift(kShortBlock);

uint32_t Apply(const Shift& shift, uint64_t state) {
  return shift[0][state & 0xFF] ^ shift[1][state >> 8 & 0xFF] ^ shift[2][state >> 16 & 0xFF] ^
         shift[3][state >> 24];
}

__attribute__((target("sse4.2"))) inline uint64_t Add8(uint64_t state, const char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return __builtin_ia32_crc32di(state, word);
}

// Takes groups of three blocks off the front.
template <size_t block>
__attribute__((target("sse4.2"))) uint64_t AddTriples(uint64_t state, const Shift& shift,
                                                      std::string_view* data) {
  while (data->size() >= 3 * block) {
    const char* p = data->data();
    uint64_t second = 0, third = 0;
    for (size_t i = 0; i < block; i += 8) {
      state = Add8(state, p + i);
      second = Add8(second, p + block + i);
      third = Add8(third, p + 2 * block + i);
    }
    state = Apply(shift, Apply(shift, state) ^ second) ^ third;
    data->remove_prefix(3 * block);
  }
  return state;
}

__attribute__((target("sse4.2"))) uint32_t ExtendByInstruction(uint32_t crc,
                                                               std::string_view data) {
  uint64_t state = ~crc;
  state = AddTriples<kLongBlock>(state, kLongShift, &data);
  state = AddTriples<kShortBlock>(state, kShortShift, &data);
  const char* p = data.data();
  size_t left = data.size();
  for (; left >= 8; p += 8, left -= 8) state = Add8(state, p);
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

uint32_t JoinCrc32c(uint32_t crc_a, uint32_t crc_b, uint64_t size) {
  // Each byte of B multiplies what A left by x^8.
  uint32_t shift = 0x80000000;        // 1
  uint32_t power = 0x80000000u >> 8;  // x^8, squared with each bit of size
  for (; size != 0; size >>= 1, power = Multiply(power, power)) {
    if (size & 1) shift = Multiply(shift, power);
  }
  return Multiply(shift, crc_a) ^ crc_b;
}

SEXTANT_API uint32_t ExtendCrc32c(uint32_t crc, std::string_view data) {
#if defined(__x86_64__)
  if (HasInstruction()) return ExtendByInstruction(crc, data);
#endif
  return internal::ExtendCrc32cByTable(crc, data);
}

}  // namespace sextant
