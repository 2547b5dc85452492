// Patches: the parts of an input that the positions of a convolution see, as rows of a matrix.
// A row holds [depth tap][height tap][width tap][channel of the group]; channels are last in the
// input too.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/ops/math/wrapping.h"
#include "sextant/ops/nn/conv_geometry.h"

namespace sextant {

class ConvPatches {
 public:
  explicit ConvPatches(const ConvGeometry& g)
      : g_(g), line_(g.width.filter * g.filter_c), size_(g.filter_pixels() * g.filter_c) {}

  // Elements of a patch.
  int64_t size() const { return size_; }
  // Whether the input, seen as [positions, channels], is the matrix of patches itself.
  bool trivial() const { return Trivial(g_.depth) && Trivial(g_.height) && Trivial(g_.width); }

  // Writes the patches of output positions [begin, end), counted over the whole batch.
  template <typename T>
  void Gather(const T* input, int64_t group, int64_t begin, int64_t end, T* rows) const;

  // Adds the patches of output positions [begin, end) to where they come from, in the input lines
  // [first, last) (counted over batch, depth and height). Lines may be done by different threads.
  template <typename T>
  void Scatter(const T* rows, int64_t group, int64_t begin, int64_t end, int64_t first,
               int64_t last, T* input) const;

 private:
  static bool Trivial(const ConvAxis& a) {
    return a.filter == 1 && a.stride == 1 && a.pad_before == 0 && a.pad_after == 0;
  }
  // Taps of a line are neighbours in the input, all channels of it.
  bool contiguous() const { return g_.width.dilation == 1 && g_.groups == 1; }
  // Taps [first, last) of a contiguous line that starts at input position "at" are inside.
  struct Inside {
    int64_t first, last;
  };
  Inside InsideTaps(int64_t at) const {
    const int64_t taps = g_.width.filter;
    const int64_t first = std::clamp<int64_t>(-at, 0, taps);
    return {first, std::clamp<int64_t>(g_.width.in - at, first, taps)};
  }
  template <typename T>
  void GatherLine(const T* input_line, int64_t ow, T* row) const;
  template <typename T>
  void ScatterLine(const T* row, int64_t ow, T* input_line) const;

  const ConvGeometry& g_;
  const int64_t line_;  // elements of the taps along the width
  const int64_t size_;
};

template <typename T>
void ConvPatches::GatherLine(const T* input_line, int64_t ow, T* row) const {
  const int64_t fc = g_.filter_c, at = g_.width.InputIndex(ow, 0);
  if (contiguous()) {
    const auto [first, last] = InsideTaps(at);
    std::fill_n(row, first * fc, T(0));
    std::copy_n(input_line + (at + first) * fc, (last - first) * fc, row + first * fc);
    std::fill(row + last * fc, row + line_, T(0));
    return;
  }
  for (int64_t tap = 0; tap < g_.width.filter; ++tap, row += fc) {
    const int64_t iw = at + tap * g_.width.dilation;
    if (iw >= 0 && iw < g_.width.in) {
      std::copy_n(input_line + iw * g_.in_c, fc, row);
    } else {
      std::fill_n(row, fc, T(0));
    }
  }
}

template <typename T>
void ConvPatches::Gather(const T* input, int64_t group, int64_t begin, int64_t end, T* rows) const {
  const int64_t line_size = g_.width.in * g_.in_c;
  for (int64_t r = begin; r < end; ++r) {
    int64_t rest = r;
    const int64_t ow = rest % g_.width.out;
    rest /= g_.width.out;
    const int64_t oh = rest % g_.height.out;
    rest /= g_.height.out;
    const int64_t od = rest % g_.depth.out, n = rest / g_.depth.out;
    for (int64_t fd = 0; fd < g_.depth.filter; ++fd) {
      const int64_t id = g_.depth.InputIndex(od, fd);
      for (int64_t fh = 0; fh < g_.height.filter; ++fh, rows += line_) {
        const int64_t ih = g_.height.InputIndex(oh, fh);
        if (id < 0 || id >= g_.depth.in || ih < 0 || ih >= g_.height.in) {
          std::fill_n(rows, line_, T(0));
          continue;
        }
        const int64_t line = (n * g_.depth.in + id) * g_.height.in + ih;
        GatherLine(input + line * line_size + group * g_.filter_c, ow, rows);
      }
    }
  }
}

template <typename T>
void ConvPatches::ScatterLine(const T* row, int64_t ow, T* input_line) const {
  const int64_t fc = g_.filter_c, at = g_.width.InputIndex(ow, 0);
  const auto add = [](const T* from, int64_t count, T* to) {
    for (int64_t i = 0; i < count; ++i) to[i] = Wrapping::Add(to[i], from[i]);
  };
  if (contiguous()) {
    const auto [first, last] = InsideTaps(at);
    return add(row + first * fc, (last - first) * fc, input_line + (at + first) * fc);
  }
  for (int64_t tap = 0; tap < g_.width.filter; ++tap, row += fc) {
    const int64_t iw = at + tap * g_.width.dilation;
    if (iw >= 0 && iw < g_.width.in) add(row, fc, input_line + iw * g_.in_c);
  }
}

template <typename T>
void ConvPatches::Scatter(const T* rows, int64_t group, int64_t begin, int64_t end, int64_t first,
                          int64_t last, T* input) const {
  for (int64_t line = first; line < last; ++line) {
    const int64_t ih = line % g_.height.in, id = line / g_.height.in % g_.depth.in;
    const int64_t n = line / (g_.height.in * g_.depth.in);
    T* const to = input + line * g_.width.in * g_.in_c + group * g_.filter_c;
    for (int64_t fd = 0; fd < g_.depth.filter; ++fd) {
      const int64_t od = g_.depth.OutputIndex(id, fd);
      for (int64_t fh = 0; od >= 0 && fh < g_.height.filter; ++fh) {
        const int64_t oh = g_.height.OutputIndex(ih, fh);
        if (oh < 0) continue;
        const int64_t base = ((n * g_.depth.out + od) * g_.height.out + oh) * g_.width.out;
        const int64_t stop = std::min(end, base + g_.width.out);
        const int64_t offset = (fd * g_.height.filter + fh) * line_;
        for (int64_t r = std::max(begin, base); r < stop; ++r) {
          ScatterLine(rows + (r - begin) * size_ + offset, r - base, to);
        }
      }
    }
  }
}

}  // namespace sextant
