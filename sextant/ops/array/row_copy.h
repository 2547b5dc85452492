// Copies of many short rows of one size, without a call for each.
#pragma once

#include <cstddef>
#include <cstring>

namespace sextant {

template <size_t kBytes>
struct CopyExactly {
  void operator()(void* dst, const void* src) const { std::memcpy(dst, src, kBytes); }
};

// kBytes from the front and kBytes up to the end: any size from kBytes to 2 * kBytes.
template <size_t kBytes>
struct CopyBothEnds {
  size_t rest;  // bytes in front of the second part
  void operator()(void* dst, const void* src) const {
    char front[kBytes], back[kBytes];
    std::memcpy(front, src, kBytes);
    std::memcpy(back, static_cast<const char*>(src) + rest, kBytes);
    std::memcpy(dst, front, kBytes);
    std::memcpy(static_cast<char*>(dst) + rest, back, kBytes);
  }
};

struct CopyBytes {
  size_t bytes;
  void operator()(void* dst, const void* src) const { std::memcpy(dst, src, bytes); }
};

// Calls loop(copy), where copy(dst, src) copies a row of that many bytes to another place.
template <typename Loop>
void WithRowCopy(size_t bytes, Loop&& loop) {
  switch (bytes) {
    case 1:
      return loop(CopyExactly<1>());
    case 4:
      return loop(CopyExactly<4>());
    case 8:
      return loop(CopyExactly<8>());
    case 32:
      return loop(CopyExactly<32>());
    default:
      break;
  }
  if (bytes < 4 || bytes > 64) return loop(CopyBytes{bytes});
  if (bytes < 8) return loop(CopyBothEnds<4>{bytes - 4});
  if (bytes <= 16) return loop(CopyBothEnds<8>{bytes - 8});
  if (bytes <= 32) return loop(CopyBothEnds<16>{bytes - 16});
  loop(CopyBothEnds<32>{bytes - 32});
}

}  // namespace sextant
