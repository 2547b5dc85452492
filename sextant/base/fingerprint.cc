#include "sextant/base/fingerprint.h"

#include <bit>
#include <utility>

#include "sextant/base/coding.h"

namespace sextant {
namespace {

constexpr uint64_t kK0 = 0xc3a5c85c97cb3127;
constexpr uint64_t kK1 = 0xb492b66fbe98f273;
constexpr uint64_t kK2 = 0x9ae16a3b2f90404f;

uint64_t ShiftMix(uint64_t x) { return x ^ (x >> 47); }

uint64_t Mix(uint64_t u, uint64_t v, uint64_t m) {
  const uint64_t a = ShiftMix((u ^ v) * m);
  return ShiftMix((v ^ a) * m) * m;
}

class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  uint64_t Byte(size_t i) const { return static_cast<unsigned char>(bytes_[i]); }
  uint64_t Word32(size_t i) const { return DecodeFixed32(bytes_.data() + i); }
  uint64_t Word(size_t i) const { return DecodeFixed64(bytes_.data() + i); }

 private:
  std::string_view bytes_;
};

uint64_t HashUpTo16(const Input& in, size_t n) {
  if (n == 0) return kK2;
  if (n < 4) {
    const uint64_t y = in.Byte(0) + (in.Byte(n / 2) << 8);
    const uint64_t z = n + (in.Byte(n - 1) << 2);
    return ShiftMix(y * kK2 ^ z * kK0) * kK2;
  }
  const uint64_t m = kK2 + 2 * n;
  if (n < 8) return Mix(n + (in.Word32(0) << 3), in.Word32(n - 4), m);
  const uint64_t a = in.Word(0) + kK2;
  const uint64_t b = in.Word(n - 8);
  return Mix(std::rotr(b, 37) * m + a, (std::rotr(a, 25) + b) * m, m);
}

uint64_t Hash17To32(const Input& in, size_t n) {
  const uint64_t m = kK2 + 2 * n;
  const uint64_t a = in.Word(0) * kK1, b = in.Word(8);
  const uint64_t c = in.Word(n - 8) * m, d = in.Word(n - 16) * kK2;
  return Mix(std::rotr(a + b, 43) + std::rotr(c, 30) + d, a + std::rotr(b + kK2, 18) + c, m);
}

uint64_t Hash33To64(const Input& in, size_t n) {
  const uint64_t m = kK2 + 2 * n;
  const uint64_t a = in.Word(0) * kK2, b = in.Word(8);
  const uint64_t c = in.Word(n - 8) * m, d = in.Word(n - 16) * kK2;
  const uint64_t y = std::rotr(a + b, 43) + std::rotr(c, 30) + d;
  const uint64_t z = Mix(y, a + std::rotr(b + kK2, 18) + c, m);
  const uint64_t e = in.Word(16) * m, f = in.Word(24);
  const uint64_t g = (y + in.Word(n - 32)) * m, h = (z + in.Word(n - 24)) * m;
  return Mix(std::rotr(e + f, 43) + std::rotr(g, 30) + h, e + std::rotr(f + a, 18) + g, m);
}

// The 56 bytes of state of inputs longer than 64 bytes.
struct LongState {
  using Pair = std::pair<uint64_t, uint64_t>;
  uint64_t x, y, z;
  Pair v{0, 0}, w{0, 0};

  static Pair Weak(const Input& in, size_t at, uint64_t a, uint64_t b) {
    a += in.Word(at);
    b = std::rotr(b + a + in.Word(at + 24), 21);
    const uint64_t c = a;
    a += in.Word(at + 8) + in.Word(at + 16);
    b += std::rotr(a, 44);
    return {a + in.Word(at + 24), b + c};
  }

  // Takes in the 64 bytes at `at`. `factor` is 1, or 9 for the last block.
  void Absorb(const Input& in, size_t at, uint64_t m, uint64_t factor) {
    x = std::rotr(x + y + v.first + in.Word(at + 8), 37) * m;
    y = std::rotr(y + v.second + in.Word(at + 48), 42) * m;
    x ^= w.second * factor;
    y += v.first * factor + in.Word(at + 40);
    z = std::rotr(z + w.first, 33) * m;
    v = Weak(in, at, v.second * m, x + w.first);
    w = Weak(in, at + 32, z + w.second, y + in.Word(at + 16));
    std::swap(x, z);
  }
};

uint64_t HashLong(const Input& in, size_t n) {
  const uint64_t y = 81 * kK1 + 113;
  LongState s{.x = 81 * kK2 + in.Word(0), .y = y, .z = ShiftMix(y * kK2 + 113) * kK2};
  const size_t end = (n - 1) / 64 * 64;
  for (size_t at = 0; at < end; at += 64) s.Absorb(in, at, kK1, 1);
  const uint64_t m = kK1 + ((s.z & 255) << 1);
  s.w.first += (n - 1) & 63;
  s.v.first += s.w.first;
  s.w.first += s.v.first;
  s.Absorb(in, n - 64, m, 9);
  return Mix(Mix(s.v.first, s.w.first, m) + ShiftMix(s.y) * kK0 + s.z,
             Mix(s.v.second, s.w.second, m) + s.x, m);
}

}  // namespace

uint64_t Fingerprint64(std::string_view bytes) {
  const Input in(bytes);
  const size_t n = bytes.size();
  if (n <= 16) return HashUpTo16(in, n);
  if (n <= 32) return Hash17To32(in, n);
  if (n <= 64) return Hash33To64(in, n);
  return HashLong(in, n);
}

}  // namespace sextant
