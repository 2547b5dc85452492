#include <algorithm>

#include "sextant/device/cpu/gemm.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/math/elementwise_loops.h"

namespace sextant {
namespace {

struct GruSizes {
  int64_t batch, inputs, units;

  // Of the inputs x, h_prev, w_ru, w_c, b_ru, b_c. Throws INVALID_ARGUMENT unless they fit.
  explicit GruSizes(KernelContext& ctx) {
    const char* const names[] = {"x", "h_prev", "w_ru", "w_c"};
    for (int i = 0; i < 4; ++i) {
      if (ctx.input(i).rank() == 2) continue;
      throw InvalidArgument("{} must be a matrix, got {}", names[i],
                            ctx.input(i).shape().ToString());
    }
    batch = ctx.input(0).dim(0);
    inputs = ctx.input(0).dim(1);
    units = ctx.input(1).dim(1);
    Check(ctx.input(1), "h_prev", state());
    Check(ctx.input(2), "w_ru", {inputs + units, 2 * units});
    Check(ctx.input(3), "w_c", {inputs + units, units});
    Check(ctx.input(4), "b_ru", {2 * units});
    Check(ctx.input(5), "b_c", {units});
  }
  Shape state() const { return {batch, units}; }
  static void Check(const Tensor& tensor, const char* name, const Shape& shape) {
    if (tensor.shape() == shape) return;
    throw InvalidArgument("{} must have the shape {}, got {}", name, shape.ToString(),
                          tensor.shape().ToString());
  }
};

// [a, b] row by row, where a is [rows, a_cols] and b is [rows, b_cols].
void Join(const float* a, int64_t a_cols, const float* b, int64_t b_cols, int64_t rows,
          float* out) {
  for (int64_t r = 0; r < rows; ++r) {
    out = std::copy_n(a + r * a_cols, a_cols, out);
    out = std::copy_n(b + r * b_cols, b_cols, out);
  }
}

class GruBlockCellKernel final : public Kernel {
 public:
  explicit GruBlockCellKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const GruSizes s(ctx);
    const float *x = ctx.input(0).data<float>(), *h_prev = ctx.input(1).data<float>();
    float* out[4];
    for (int i = 0; i < 4; ++i) out[i] = ctx.AllocateOutput(i, s.state()).data<float>();
    float *r = out[0], *u = out[1], *c = out[2], *h = out[3];
    const int64_t units = s.units, width = s.inputs + units, size = s.batch * units;
    if (size == 0) return;

    Tensor joined = ctx.AllocateTemp(DType::kFloat, {s.batch, width});
    Tensor gates = ctx.AllocateTemp(DType::kFloat, {s.batch, 2 * units});
    float *xh = joined.data<float>(), *g = gates.data<float>();
    Join(x, s.inputs, h_prev, units, s.batch, xh);
    Gemm<float>(ctx, s.batch, 2 * units, width, {xh, width, 1},
                {ctx.input(2).data<float>(), 2 * units, 1}, g, 2 * units);
    const float* b_ru = ctx.input(4).data<float>();
    for (int64_t n = 0; n < s.batch; ++n) {
      for (int64_t j = 0; j < units; ++j) {
        r[n * units + j] = g[n * 2 * units + j] + b_ru[j];
        u[n * units + j] = g[n * 2 * units + units + j] + b_ru[units + j];
      }
    }
    sigmoid_(r, r, size);
    sigmoid_(u, u, size);

    for (int64_t i = 0; i < size; ++i) h[i] = r[i] * h_prev[i];
    Join(x, s.inputs, h, units, s.batch, xh);
    Gemm<float>(ctx, s.batch, units, width, {xh, width, 1}, {ctx.input(3).data<float>(), units, 1},
                c, units);
    const float* b_c = ctx.input(5).data<float>();
    for (int64_t i = 0; i < size; ++i) c[i] += b_c[i % units];
    tanh_(c, c, size);
    for (int64_t i = 0; i < size; ++i) h[i] = u[i] * h_prev[i] + (1 - u[i]) * c[i];
  }

 private:
  const UnaryLoop sigmoid_ = FloatUnaryLoop(ElementwiseOp::kSigmoid);
  const UnaryLoop tanh_ = FloatUnaryLoop(ElementwiseOp::kTanh);
};

class GruBlockCellGradKernel final : public Kernel {
 public:
  explicit GruBlockCellGradKernel(KernelInit&) {}

  void Compute(KernelContext& ctx) override {
    const GruSizes s(ctx);
    const char* const names[] = {"r", "u", "c", "d_h"};
    for (int i = 0; i < 4; ++i) GruSizes::Check(ctx.input(6 + i), names[i], s.state());
    const float* h_prev = ctx.input(1).data<float>();
    const float *r = ctx.input(6).data<float>(), *u = ctx.input(7).data<float>();
    const float *c = ctx.input(8).data<float>(), *d_h = ctx.input(9).data<float>();
    const int64_t units = s.units, width = s.inputs + units;
    float* d_x = ctx.AllocateOutput(0, {s.batch, s.inputs}).data<float>();
    float* d_h_prev = ctx.AllocateOutput(1, s.state()).data<float>();
    float* d_c_bar = ctx.AllocateOutput(2, s.state()).data<float>();
    float* d_gates = ctx.AllocateOutput(3, {s.batch, 2 * units}).data<float>();
    for (int64_t i = 0; i < s.batch * units; ++i)
      d_c_bar[i] = d_h[i] * (1 - u[i]) * (1 - c[i] * c[i]);

    // Gradients of [x, r * h_prev] and then of [x, h_prev].
    Tensor first = ctx.AllocateTemp(DType::kFloat, {s.batch, width});
    Tensor second = ctx.AllocateTemp(DType::kFloat, {s.batch, width});
    float *d_xhr = first.data<float>(), *d_xh = second.data<float>();
    TimesTransposed(ctx, s.batch, width, units, d_c_bar, ctx.input(3), d_xhr);
    for (int64_t n = 0; n < s.batch; ++n) {
      for (int64_t j = 0; j < units; ++j) {
        const int64_t i = n * units + j;
        const float d_hr = d_xhr[n * width + s.inputs + j];
        d_gates[2 * n * units + j] = d_hr * h_prev[i] * r[i] * (1 - r[i]);
        d_gates[(2 * n + 1) * units + j] = d_h[i] * (h_prev[i] - c[i]) * u[i] * (1 - u[i]);
      }
    }
    TimesTransposed(ctx, s.batch, width, 2 * units, d_gates, ctx.input(2), d_xh);
    for (int64_t n = 0; n < s.batch; ++n) {
      const float *a = d_xhr + n * width, *b = d_xh + n * width;
      for (int64_t j = 0; j < s.inputs; ++j) d_x[n * s.inputs + j] = a[j] + b[j];
      for (int64_t j = 0; j < units; ++j) {
        const int64_t i = n * units + j, k = s.inputs + j;
        d_h_prev[i] = a[k] * r[i] + b[k] + d_h[i] * u[i];
      }
    }
  }

 private:
  // out [rows, cols] = a [rows, depth] * transpose of w [cols, depth].
  static void TimesTransposed(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth,
                              const float* a, const Tensor& w, float* out) {
    if (rows * cols == 0) return;
    Gemm<float>(ctx, rows, cols, depth, {a, depth, 1}, {w.data<float>(), 1, depth}, out, cols);
  }
};

}  // namespace

void RegisterGruBlockCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("GRUBlockCell").Type<float>("T").Make<GruBlockCellKernel>());
  registry.Add(KernelDef("GRUBlockCellGrad").Type<float>("T").Make<GruBlockCellGradKernel>());
}

}  // namespace sextant
