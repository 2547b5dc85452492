// A single step is a sequence of one: all kernels work on [time, batch, ...].
#include <algorithm>
#include <optional>
#include <vector>

#include "sextant/device/cpu/gemm.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/nn/widened.h"
#include "sextant/ops/rnn/lstm_cell.h"

namespace sextant {
namespace {

struct LstmSizes {
  int64_t time = 1, steps = 1;  // steps are those of time that count
  int64_t batch, inputs, units;

  // Of seq_len_max (sequences only), x, cs_prev, h_prev, w, wci, wcf, wco, b; x is input "first".
  LstmSizes(KernelContext& ctx, int first) {
    const Tensor &x = ctx.input(first), &cs_prev = ctx.input(first + 1);
    const int rank = first == 0 ? 2 : 3;
    if (x.rank() != rank) {
      throw InvalidArgument("x must have {} dimensions, got {}", rank, x.shape().ToString());
    }
    if (cs_prev.rank() != 2) {
      throw InvalidArgument("cs_prev must be a matrix, got {}", cs_prev.shape().ToString());
    }
    batch = x.dim(rank - 2);
    inputs = x.dim(rank - 1);
    units = cs_prev.dim(1);
    if (first > 0) SetTime(ctx.input(0), x.dim(0));
    const Shape state{batch, units}, peephole{units};
    const Shape shapes[] = {state,    state,      {inputs + units, 4 * units}, peephole, peephole,
                            peephole, {4 * units}};
    const char* const names[] = {"cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"};
    for (int i = 0; i < 7; ++i) Check(ctx.input(first + 1 + i), names[i], shapes[i]);
  }

  void SetTime(const Tensor& seq_len_max, int64_t length) {
    time = length;
    steps = seq_len_max.scalar<int64_t>();
    if (steps < 0 || steps > time) {
      throw InvalidArgument("seq_len_max must be in [0, {}], got {}", time, steps);
    }
  }
  static void Check(const Tensor& tensor, const char* name, const Shape& shape) {
    if (tensor.shape() == shape) return;
    throw InvalidArgument("{} must have the shape {}, got {}", name, shape.ToString(),
                          tensor.shape().ToString());
  }
  // Of the states: [batch, units], or [time, batch, units].
  Shape state(bool sequence) const {
    return sequence ? Shape{time, batch, units} : Shape{batch, units};
  }
  int64_t state_size() const { return batch * units; }
};

// Rows of step t in arrays [time, batch, units].
LstmRow RowAt(float* const arrays[7], int64_t row, int64_t units) {
  const int64_t at = row * units;
  return {arrays[0] + at, arrays[1] + at, arrays[2] + at, arrays[3] + at,
          arrays[4] + at, arrays[5] + at, arrays[6] + at};
}

// c [rows, cols] = a [rows, depth] * b.
void Multiply(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth, MatrixView<float> a,
              MatrixView<float> b, float* c) {
  if (rows == 0 || cols == 0) return;
  if (depth == 0) return static_cast<void>(std::fill_n(c, rows * cols, 0.0f));
  Gemm<float>(ctx, rows, cols, depth, a, b, c, cols);
}

template <typename T>
class LstmKernel final : public Kernel {
 public:
  LstmKernel(KernelInit& init, GateOrder order)
      : first_(init.num_inputs() == 9 ? 1 : 0),
        cell_(order, init.attr<bool>("use_peephole"),
              init.node().FindAttr("forget_bias") ? init.attr<float>("forget_bias") : 0.0f,
              init.attr<float>("cell_clip")) {}

  void Compute(KernelContext& ctx) override {
    const LstmSizes s(ctx, first_);
    std::optional<WidenedInput<T>> in[8];
    for (int i = 0; i < 8; ++i) in[i].emplace(ctx, ctx.input(first_ + i));
    std::optional<WidenedOutput<T>> out[7];
    float* states[7];
    for (int i = 0; i < 7; ++i) {
      out[i].emplace(ctx, ctx.AllocateOutput(i, s.state(first_ == 1)));
      states[i] = out[i]->data();
      std::fill(states[i] + s.steps * s.state_size(), states[i] + s.time * s.state_size(), 0.0f);
    }
    cell_.set_peepholes(in[4]->data(), in[5]->data(), in[6]->data());
    const float *x = in[0]->data(), *w = in[3]->data(), *b = in[7]->data();
    const int64_t rows = s.steps * s.batch, width = 4 * s.units;

    // What comes from x, for all steps at once; what comes from h, step by step.
    Tensor from_x = ctx.AllocateTemp(DType::kFloat, {rows, width});
    Tensor from_h = ctx.AllocateTemp(DType::kFloat, {s.batch, width});
    float *gates = from_x.data<float>(), *recurrent = from_h.data<float>();
    Multiply(ctx, rows, width, s.inputs, {x, s.inputs, 1}, {w, width, 1}, gates);
    const float *cs_prev = in[1]->data(), *h_prev = in[2]->data();
    for (int64_t t = 0; t < s.steps; ++t) {
      Multiply(ctx, s.batch, width, s.units, {h_prev, s.units, 1}, {w + s.inputs * width, width, 1},
               recurrent);
      ctx.ParallelFor(s.batch, 10.0 * static_cast<double>(width), [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) {
          float* g = gates + (t * s.batch + n) * width;
          const float* r = recurrent + n * width;
          for (int64_t j = 0; j < width; ++j) g[j] += r[j] + b[j];
          cell_.Forward(s.units, g, cs_prev + n * s.units, RowAt(states, t * s.batch + n, s.units));
        }
      });
      cs_prev = states[1] + t * s.state_size();
      h_prev = states[6] + t * s.state_size();
    }
    for (auto& output : out) output->Store();
  }

 private:
  const int first_;  // input that is x
  LstmCell cell_;
};

template <typename T>
class LstmCellGradKernel final : public Kernel {
 public:
  explicit LstmCellGradKernel(KernelInit& init)
      : cell_(kCellGates, init.attr<bool>("use_peephole")) {}

  void Compute(KernelContext& ctx) override {
    const LstmSizes s(ctx, 0);
    const char* const names[] = {"i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"};
    std::optional<WidenedInput<T>> in[16];
    for (int i = 0; i < 16; ++i) {
      if (i >= 8) LstmSizes::Check(ctx.input(i), names[i - 8], s.state(false));
      in[i].emplace(ctx, ctx.input(i));
    }
    cell_.set_peepholes(in[4]->data(), in[5]->data(), in[6]->data());
    float* states[7];  // h is not read
    for (int i = 0; i < 7; ++i) states[i] = const_cast<float*>(in[8 + std::min(i, 5)]->data());
    const Shape peephole{s.units};
    WidenedOutput<T> cs_prev_grad(ctx, ctx.AllocateOutput(0, s.state(false)));
    WidenedOutput<T> gates(ctx, ctx.AllocateOutput(1, {s.batch, 4 * s.units}));
    WidenedOutput<T> wci(ctx, ctx.AllocateOutput(2, peephole));
    WidenedOutput<T> wcf(ctx, ctx.AllocateOutput(3, peephole));
    WidenedOutput<T> wco(ctx, ctx.AllocateOutput(4, peephole));
    for (WidenedOutput<T>* grad : {&wci, &wcf, &wco}) std::fill_n(grad->data(), s.units, 0.0f);
    for (int64_t n = 0; n < s.batch; ++n) {
      const int64_t at = n * s.units;
      const LstmRow row = RowAt(states, n, s.units);
      const float* cs_prev = in[1]->data() + at;
      float* d_gates = gates.data() + 4 * at;
      cell_.Backward(s.units, cs_prev, row, in[14]->data() + at, in[15]->data() + at, d_gates,
                     cs_prev_grad.data() + at);
      if (!cell_.peephole()) continue;
      cell_.AddPeepholeGradients(s.units, cs_prev, row, d_gates, wci.data(), wcf.data(),
                                 wco.data());
    }
    for (WidenedOutput<T>* output : {&cs_prev_grad, &gates, &wci, &wcf, &wco}) output->Store();
  }

 private:
  LstmCell cell_;
};

template <typename T>
class BlockLstmGradKernel final : public Kernel {
 public:
  BlockLstmGradKernel(KernelInit& init, GateOrder order)
      : cell_(order, init.attr<bool>("use_peephole")) {}

  void Compute(KernelContext& ctx) override {
    const LstmSizes s(ctx, 1);
    const char* const names[] = {"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"};
    std::optional<WidenedInput<T>> in[18];
    for (int i = 1; i < 18; ++i) {
      if (i >= 9) LstmSizes::Check(ctx.input(i), names[i - 9], s.state(true));
      in[i].emplace(ctx, ctx.input(i));
    }
    // x, cs_prev, h_prev, w, wci, wcf, wco and b, whose gradients are outputs 0 to 7.
    std::optional<WidenedOutput<T>> out[8];
    for (int i = 0; i < 8; ++i) {
      out[i].emplace(ctx, ctx.AllocateOutput(i, ctx.input(1 + i).shape()));
      std::fill_n(out[i]->data(), ctx.input(1 + i).num_elements(), 0.0f);
    }
    cell_.set_peepholes(in[5]->data(), in[6]->data(), in[7]->data());
    Tensor d_gates = ctx.AllocateTemp(DType::kFloat, {s.steps * s.batch, 4 * s.units});
    StepBack(ctx, s, in, out, d_gates.data<float>());
    WeightGradients(ctx, s, in, out, d_gates.data<float>());
    for (auto& output : out) output->Store();
  }

 private:
  using Inputs = std::optional<WidenedInput<T>>[18];
  using Outputs = std::optional<WidenedOutput<T>>[8];

  // Fills d_gates and leaves the gradients of the initial states in outputs 1 and 2.
  void StepBack(KernelContext& ctx, const LstmSizes& s, const Inputs& in, Outputs& out,
                float* d_gates) {
    float* states[7];
    for (int i = 0; i < 7; ++i) states[i] = const_cast<float*>(in[9 + i]->data());
    const int64_t size = s.state_size(), width = 4 * s.units;
    const float* w_h = in[4]->data() + s.inputs * width;
    float *cs_carry = out[1]->data(), *h_carry = out[2]->data();
    Tensor scratch = ctx.AllocateTemp(DType::kFloat, {2, s.batch, s.units});
    float *cs_total = scratch.data<float>(), *h_total = cs_total + size;
    for (int64_t t = s.steps - 1; t >= 0; --t) {
      const float *cs_grad = in[16]->data() + t * size, *h_grad = in[17]->data() + t * size;
      for (int64_t i = 0; i < size; ++i) {
        cs_total[i] = cs_grad[i] + cs_carry[i];
        h_total[i] = h_grad[i] + h_carry[i];
      }
      const float* cs_prev = t > 0 ? states[1] + (t - 1) * size : in[2]->data();
      for (int64_t n = 0; n < s.batch; ++n) {
        const int64_t at = n * s.units;
        const LstmRow row = RowAt(states, t * s.batch + n, s.units);
        float* d_row = d_gates + (t * s.batch + n) * width;
        cell_.Backward(s.units, cs_prev + at, row, cs_total + at, h_total + at, d_row,
                       cs_carry + at);
        if (!cell_.peephole()) continue;
        cell_.AddPeepholeGradients(s.units, cs_prev + at, row, d_row, out[4]->data(),
                                   out[5]->data(), out[6]->data());
      }
      Multiply(ctx, s.batch, s.units, width, {d_gates + t * s.batch * width, width, 1},
               {w_h, 1, width}, h_carry);
    }
  }

  // Of x, w and b, for all steps at once.
  void WeightGradients(KernelContext& ctx, const LstmSizes& s, const Inputs& in, Outputs& out,
                       const float* d_gates) {
    const int64_t rows = s.steps * s.batch, width = 4 * s.units;
    if (rows == 0) return;
    const float* w = in[4]->data();
    float *w_grad = out[3]->data(), *b_grad = out[7]->data();
    Multiply(ctx, rows, s.inputs, width, {d_gates, width, 1}, {w, 1, width}, out[0]->data());
    Multiply(ctx, s.inputs, width, rows, {in[1]->data(), 1, s.inputs}, {d_gates, width, 1}, w_grad);
    // The states that the steps started from.
    Tensor before = ctx.AllocateTemp(DType::kFloat, {rows, s.units});
    float* h_before = std::copy_n(in[3]->data(), s.state_size(), before.data<float>());
    std::copy_n(in[15]->data(), (s.steps - 1) * s.state_size(), h_before);
    Multiply(ctx, s.units, width, rows, {before.data<float>(), 1, s.units}, {d_gates, width, 1},
             w_grad + s.inputs * width);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < width; ++j) b_grad[j] += d_gates[r * width + j];
    }
  }

  LstmCell cell_;
};

template <typename K>
KernelDef::Factory WithOrder(GateOrder order) {
  return [order](KernelInit& init) { return std::make_unique<K>(init, order); };
}

}  // namespace

void RegisterLstmBlockCpu(KernelRegistry& registry) {
  ForTypes<float, Half>([&]<typename T>() {
    const auto add = [&](const char* op, KernelDef::Factory factory) {
      registry.Add(KernelDef(op).Type<T>("T").Make(std::move(factory)));
    };
    add("LSTMBlockCell", WithOrder<LstmKernel<T>>(kCellGates));
    add("BlockLSTM", WithOrder<LstmKernel<T>>(kCellGates));
    add("BlockLSTMV2", WithOrder<LstmKernel<T>>(kGatesOfV2));
    add("BlockLSTMGrad", WithOrder<BlockLstmGradKernel<T>>(kCellGates));
    add("BlockLSTMGradV2", WithOrder<BlockLstmGradKernel<T>>(kGatesOfV2));
    registry.Add(
        KernelDef("LSTMBlockCellGrad").Type<T>("T").template Make<LstmCellGradKernel<T>>());
  });
}

}  // namespace sextant
