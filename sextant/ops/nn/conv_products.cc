#include "sextant/ops/nn/conv_products.h"

#include <type_traits>

#include "sextant/device/cpu/gemm.h"
#include "sextant/ops/nn/conv_patches.h"

namespace sextant {
namespace {

// Elements of a piece of the matrix of patches: with the packed copy that Gemm makes of it, what
// the caches near the cores hold.
constexpr int64_t kPieceElements = int64_t{1} << 18;

template <typename T>
void Product(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth, MatrixView<T> a,
             MatrixView<T> b, T* c, int64_t c_stride) {
  if constexpr (std::is_floating_point_v<T>) {
    Gemm<T>(ctx, rows, cols, depth, a, b, c, c_stride);
  } else {
    ctx.ParallelFor(rows, 0.5 * static_cast<double>(cols * depth), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* row = c + i * c_stride;
        std::fill_n(row, cols, T(0));
        for (int64_t k = 0; k < depth; ++k) {
          const T value = a.data[i * a.row_stride + k * a.col_stride];
          const T* line = b.data + k * b.row_stride;
          for (int64_t j = 0; j < cols; ++j) {
            row[j] = Wrapping::Add(row[j], Wrapping::Mul(value, line[j * b.col_stride]));
          }
        }
      }
    });
  }
}

template <typename T>
void FillZero(KernelContext& ctx, T* data, int64_t count) {
  ctx.ParallelFor(count, 0.1,
                  [&](int64_t begin, int64_t end) { std::fill(data + begin, data + end, T(0)); });
}

// The matrix of patches of one convolution and the pieces it is made in.
template <typename T>
class Pieces {
 public:
  Pieces(KernelContext& ctx, const ConvGeometry& g, int64_t least_rows)
      : ctx_(ctx), g_(g), patches_(g), total_(g.batch * g.out_pixels()) {
    if (empty()) return;
    const int64_t size = patches_.size();
    rows_ = trivial() ? total_ : std::min(total_, std::max(least_rows, kPieceElements / size));
    if (!trivial()) memory_ = ctx.AllocateTemp(DTypeOf<T>, Shape{rows_, size});
  }

  bool empty() const { return total_ == 0 || patches_.size() == 0 || g_.groups == 0; }
  bool trivial() const { return patches_.trivial(); }
  int64_t total() const { return total_; }
  int64_t rows() const { return rows_; }
  int64_t patch_size() const { return patches_.size(); }
  T* memory() { return memory_.template data<T>(); }

  // Patches of a group at positions [begin, end), as a matrix.
  MatrixView<T> Gathered(const T* input, int64_t group, int64_t begin, int64_t end) {
    if (trivial()) return {input + begin * g_.in_c + group * g_.filter_c, g_.in_c, 1};
    T* const rows = memory();
    const int64_t size = patches_.size();
    ctx_.ParallelFor(end - begin, 10.0 + 0.3 * static_cast<double>(size),
                     [&](int64_t from, int64_t to) {
                       patches_.Gather(input, group, begin + from, begin + to, rows + from * size);
                     });
    return {rows, size, 1};
  }

  // Adds memory(), the patches of a group at positions [begin, end), to the input.
  void Scatter(int64_t group, int64_t begin, int64_t end, T* input) {
    const int64_t image_lines = g_.depth.in * g_.height.in;
    const int64_t first = begin / g_.out_pixels() * image_lines;
    const int64_t lines = (end - 1) / g_.out_pixels() * image_lines + image_lines - first;
    const double cost = 0.3 * static_cast<double>((end - begin) * patches_.size());
    const T* const rows = memory();
    ctx_.ParallelFor(lines, 5.0 + cost / static_cast<double>(lines), [&](int64_t from, int64_t to) {
      patches_.Scatter(rows, group, begin, end, first + from, first + to, input);
    });
  }

 private:
  KernelContext& ctx_;
  const ConvGeometry& g_;
  const ConvPatches patches_;
  const int64_t total_;
  int64_t rows_ = 0;
  Tensor memory_;
};

}  // namespace

template <typename T>
void ConvForward(KernelContext& ctx, const ConvGeometry& g, const T* input, const T* filter,
                 T* output) {
  Pieces<T> pieces(ctx, g, 64);
  if (pieces.empty()) return FillZero(ctx, output, pieces.total() * g.out_c);
  const int64_t out_c = g.out_c / g.groups;
  for (int64_t begin = 0; begin < pieces.total(); begin += pieces.rows()) {
    const int64_t end = std::min(pieces.total(), begin + pieces.rows());
    for (int64_t group = 0; group < g.groups; ++group) {
      const MatrixView<T> patches = pieces.Gathered(input, group, begin, end);
      Product<T>(ctx, end - begin, out_c, pieces.patch_size(), patches,
                 {filter + group * out_c, g.out_c, 1}, output + begin * g.out_c + group * out_c,
                 g.out_c);
    }
  }
}

template <typename T>
void ConvBackpropInput(KernelContext& ctx, const ConvGeometry& g, const T* filter,
                       const T* out_backprop, T* grad_input) {
  Pieces<T> pieces(ctx, g, 64);
  if (pieces.empty() || !pieces.trivial()) {
    FillZero(ctx, grad_input, g.batch * g.in_pixels() * g.in_c);
  }
  if (pieces.empty()) return;
  const int64_t out_c = g.out_c / g.groups, size = pieces.patch_size();
  for (int64_t begin = 0; begin < pieces.total(); begin += pieces.rows()) {
    const int64_t end = std::min(pieces.total(), begin + pieces.rows());
    for (int64_t group = 0; group < g.groups; ++group) {
      T* const patches =
          pieces.trivial() ? grad_input + begin * g.in_c + group * g.filter_c : pieces.memory();
      Product<T>(ctx, end - begin, size, out_c,
                 {out_backprop + begin * g.out_c + group * out_c, g.out_c, 1},
                 {filter + group * out_c, 1, g.out_c}, patches, pieces.trivial() ? g.in_c : size);
      if (!pieces.trivial()) pieces.Scatter(group, begin, end, grad_input);
    }
  }
}

template <typename T>
void ConvBackpropFilter(KernelContext& ctx, const ConvGeometry& g, const T* input,
                        const T* out_backprop, T* grad_filter) {
  Pieces<T> pieces(ctx, g, 512);  // so that adding up the pieces' filters is little work
  if (pieces.empty() || g.out_c == 0) {
    return FillZero(ctx, grad_filter, g.filter_pixels() * g.filter_c * g.out_c);
  }
  const int64_t out_c = g.out_c / g.groups, size = pieces.patch_size();
  Tensor partial;
  if (pieces.rows() < pieces.total()) partial = ctx.AllocateTemp(DTypeOf<T>, Shape{size, out_c});
  for (int64_t begin = 0; begin < pieces.total(); begin += pieces.rows()) {
    const int64_t end = std::min(pieces.total(), begin + pieces.rows());
    for (int64_t group = 0; group < g.groups; ++group) {
      const MatrixView<T> patches = pieces.Gathered(input, group, begin, end);
      const MatrixView<T> turned{patches.data, patches.col_stride, patches.row_stride};
      const MatrixView<T> grads{out_backprop + begin * g.out_c + group * out_c, g.out_c, 1};
      T* const sum = grad_filter + group * out_c;
      if (begin == 0) {
        Product<T>(ctx, size, out_c, end - begin, turned, grads, sum, g.out_c);
        continue;
      }
      T* const more = partial.template data<T>();
      Product<T>(ctx, size, out_c, end - begin, turned, grads, more, out_c);
      ctx.ParallelFor(size, 0.3 * static_cast<double>(out_c), [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i) {
          for (int64_t j = 0; j < out_c; ++j) sum[i * g.out_c + j] += more[i * out_c + j];
        }
      });
    }
  }
}

template void ConvForward(KernelContext&, const ConvGeometry&, const float*, const float*, float*);
template void ConvForward(KernelContext&, const ConvGeometry&, const double*, const double*,
                          double*);
template void ConvForward(KernelContext&, const ConvGeometry&, const int32_t*, const int32_t*,
                          int32_t*);
template void ConvBackpropInput(KernelContext&, const ConvGeometry&, const float*, const float*,
                                float*);
template void ConvBackpropInput(KernelContext&, const ConvGeometry&, const double*, const double*,
                                double*);
template void ConvBackpropInput(KernelContext&, const ConvGeometry&, const int32_t*, const int32_t*,
                                int32_t*);
template void ConvBackpropFilter(KernelContext&, const ConvGeometry&, const float*, const float*,
                                 float*);
template void ConvBackpropFilter(KernelContext&, const ConvGeometry&, const double*, const double*,
                                 double*);

}  // namespace sextant
