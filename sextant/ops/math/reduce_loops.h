// Loops of the reductions: folding one dimension of a row-major [outer, count, inner] array.
//
// Elements are combined pairwise, blocks of 32 to 512 at a time, in an order that depends on the
// sizes alone: rounding errors stay small on long axes and results do not depend on the threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/device/kernel.h"

namespace sextant::reduce {

inline constexpr int64_t kColumns = 256;

// An Op has a type Acc, Init() and Combine(Acc, Acc); "load" makes an Acc of an element. Recursive
// functions are not inlined: copies of them would double the time to compile.
template <typename Op, typename In, typename Load>
[[gnu::noinline]] typename Op::Acc FoldRow(const In* in, int64_t count, Load load) {
  using Acc = typename Op::Acc;
  constexpr int64_t kLanes = 32, kLeaf = 512;
  if (count > kLeaf) {
    const int64_t half = (count / 2 + kLeaf - 1) / kLeaf * kLeaf;
    const Acc left = FoldRow<Op>(in, half, load);
    return Op::Combine(left, FoldRow<Op>(in + half, count - half, load));
  }
  Acc total = Op::Init();
  int64_t i = 0;
  if (count >= kLanes) {
    Acc lanes[kLanes];
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] = load(in[j]);
    for (i = kLanes; i + kLanes <= count; i += kLanes) {
      for (int64_t j = 0; j < kLanes; ++j) lanes[j] = Op::Combine(lanes[j], load(in[i + j]));
    }
    for (int64_t step = kLanes / 2; step > 0; step /= 2) {
      for (int64_t j = 0; j < step; ++j) lanes[j] = Op::Combine(lanes[j], lanes[j + step]);
    }
    total = Op::Combine(total, lanes[0]);
  }
  for (; i < count; ++i) total = Op::Combine(total, load(in[i]));
  return total;
}

// out[j] = fold over rows of in[row * stride + j], for at most kColumns columns.
template <typename Op, typename In, typename Load>
[[gnu::noinline]] void FoldColumns(const In* in, int64_t stride, int64_t rows, int64_t cols,
                                   typename Op::Acc* out, Load load) {
  using Acc = typename Op::Acc;
  constexpr int64_t kLeaf = 32;
  if (rows > kLeaf) {
    const int64_t half = (rows / 2 + kLeaf - 1) / kLeaf * kLeaf;
    Acc right[kColumns];
    FoldColumns<Op>(in, stride, half, cols, out, load);
    FoldColumns<Op>(in + half * stride, stride, rows - half, cols, right, load);
    for (int64_t j = 0; j < cols; ++j) out[j] = Op::Combine(out[j], right[j]);
    return;
  }
  for (int64_t j = 0; j < cols; ++j) out[j] = load(in[j]);
  for (int64_t row = 1; row < rows; ++row) {
    in += stride;
    for (int64_t j = 0; j < cols; ++j) out[j] = Op::Combine(out[j], load(in[j]));
  }
}

// Into how many parts the folded dimension is cut when there are few results to share out.
inline int64_t NumParts(int64_t outer, int64_t count, int64_t inner) {
  constexpr int64_t kPartElements = 16384, kMaxParts = 32;
  const int64_t chunks = outer * ((inner + kColumns - 1) / kColumns);
  if (chunks >= 8) return 1;
  return std::clamp<int64_t>(count * inner / kPartElements, 1, std::min(kMaxParts, count));
}

struct Same {
  template <typename T>
  T operator()(T value) const {
    return value;
  }
};

// out[outer, inner] = fold of in[outer, count, inner]. partial(n) gives scratch for n values.
// REQUIRES: no size is 0.
template <typename Op, typename In, typename Load, typename Partial>
void Fold(KernelContext& ctx, const In* in, int64_t outer, int64_t count, int64_t inner,
          typename Op::Acc* out, Load load, Partial partial) {
  using Acc = typename Op::Acc;
  const int64_t parts = NumParts(outer, count, inner);
  if (parts > 1) {
    const int64_t length = (count + parts - 1) / parts, used = (count + length - 1) / length;
    Acc* values = partial(outer * used * inner);
    const int64_t chunks = (inner + kColumns - 1) / kColumns;
    ctx.ParallelFor(
        outer * used * chunks, 0.5 * static_cast<double>(length * std::min(inner, kColumns)),
        [&](int64_t begin, int64_t end) {
          for (int64_t unit = begin; unit < end; ++unit) {
            const int64_t chunk = unit % chunks, part = unit / chunks % used,
                          o = unit / chunks / used;
            const int64_t col = chunk * kColumns, rows = std::min(length, count - part * length);
            const In* from = in + (o * count + part * length) * inner + col;
            Acc* to = values + (o * used + part) * inner + col;
            if (inner == 1) {
              *to = FoldRow<Op>(from, rows, load);
            } else {
              FoldColumns<Op>(from, inner, rows, std::min(kColumns, inner - col), to, load);
            }
          }
        });
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t col = 0; col < inner; col += kColumns) {
        FoldColumns<Op>(values + o * used * inner + col, inner, used,
                        std::min(kColumns, inner - col), out + o * inner + col, Same());
      }
    }
    return;
  }
  if (inner == 1) {
    ctx.ParallelFor(outer, 0.5 * static_cast<double>(count) + 2, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) out[o] = FoldRow<Op>(in + o * count, count, load);
    });
    return;
  }
  const int64_t chunks = (inner + kColumns - 1) / kColumns;
  ctx.ParallelFor(outer * chunks, 0.5 * static_cast<double>(count * std::min(inner, kColumns)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t unit = begin; unit < end; ++unit) {
                      const int64_t o = unit / chunks, col = unit % chunks * kColumns;
                      FoldColumns<Op>(in + o * count * inner + col, inner, count,
                                      std::min(kColumns, inner - col), out + o * inner + col, load);
                    }
                  });
}

}  // namespace sextant::reduce
