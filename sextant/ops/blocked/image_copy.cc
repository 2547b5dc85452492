#include "sextant/ops/blocked/image_copy.h"

#include <cstring>

namespace sextant {
namespace {

constexpr double kNanosecondsPerCopy = 0.5;

// Calls row(n, block index, image row) for all, in parallel.
template <typename F>
void ForRows(KernelContext& ctx, const ImageShape& s, int64_t block, const F& row) {
  const int64_t blocks = s.c / block;
  const double cost = kNanosecondsPerCopy * static_cast<double>(s.h * s.w * block);
  ctx.ParallelFor(s.n * blocks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t h = 0; h < s.h; ++h) row(i / blocks, i % blocks, h);
    }
  });
}

// Where a row starts in either layout.
const float* BlockedRow(const float* data, const ImageShape& s, int64_t block, int64_t n, int64_t b,
                        int64_t h) {
  return data + ((n * (s.c / block) + b) * s.h + h) * s.w * block;
}

// `count` pieces of `floats` floats, each `from_step` and `to_step` after the one before.
template <size_t kFloats>
void CopyPieces(const float* from, int64_t from_step, float* to, int64_t to_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_step, from + i * from_step, kFloats * sizeof(float));
  }
}

void CopyPieces(const float* from, int64_t from_step, float* to, int64_t to_step, int64_t count,
                int64_t floats) {
  // Sizes that the compiler knows need no call for each piece.
  if (floats == 16) return CopyPieces<16>(from, from_step, to, to_step, count);
  if (floats == 8) return CopyPieces<8>(from, from_step, to, to_step, count);
  if (floats == 4) return CopyPieces<4>(from, from_step, to, to_step, count);
  if (floats == 1) return CopyPieces<1>(from, from_step, to, to_step, count);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_step, from + i * from_step, floats * sizeof(float));
  }
}

}  // namespace

void CopyToBlocked(KernelContext& ctx, const float* plain, float* blocked, const ImageShape& s,
                   int64_t block, bool channels_first) {
  ForRows(ctx, s, block, [&](int64_t n, int64_t b, int64_t h) {
    float* to = const_cast<float*>(BlockedRow(blocked, s, block, n, b, h));
    if (channels_first) {
      for (int64_t l = 0; l < block; ++l) {
        const float* from = plain + ((n * s.c + b * block + l) * s.h + h) * s.w;
        for (int64_t w = 0; w < s.w; ++w) to[w * block + l] = from[w];
      }
    } else {
      const float* from = plain + (n * s.h + h) * s.w * s.c + b * block;
      CopyPieces(from, s.c, to, block, s.w, block);
    }
  });
}

void CopyFromBlocked(KernelContext& ctx, const float* blocked, float* plain, const ImageShape& s,
                     int64_t block, bool channels_first) {
  ForRows(ctx, s, block, [&](int64_t n, int64_t b, int64_t h) {
    const float* from = BlockedRow(blocked, s, block, n, b, h);
    if (channels_first) {
      for (int64_t l = 0; l < block; ++l) {
        float* to = plain + ((n * s.c + b * block + l) * s.h + h) * s.w;
        for (int64_t w = 0; w < s.w; ++w) to[w] = from[w * block + l];
      }
    } else {
      float* to = plain + (n * s.h + h) * s.w * s.c + b * block;
      CopyPieces(from, block, to, s.c, s.w, block);
    }
  });
}

}  // namespace sextant
