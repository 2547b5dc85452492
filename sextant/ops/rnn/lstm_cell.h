// The element-wise arithmetic of one LSTM step, forward and backward, on rows of float.
#pragma once

#include <cstdint>

#include "sextant/ops/math/elementwise_loops.h"

namespace sextant {

// Which quarter of a row of 4 * units is which gate.
struct GateOrder {
  int i, ci, f, o;
};
inline constexpr GateOrder kCellGates = {0, 1, 2, 3};  // LSTMBlockCell, BlockLSTM
inline constexpr GateOrder kGatesOfV2 = {0, 2, 1, 3};

// What one row (example) of a step gives; each has "units" elements.
struct LstmRow {
  float *i, *cs, *f, *o, *ci, *co, *h;
};

class LstmCell {
 public:
  LstmCell(GateOrder order, bool peephole, float forget_bias = 0, float cell_clip = 0)
      : order_(order), peephole_(peephole), forget_bias_(forget_bias), cell_clip_(cell_clip) {}

  // Weights [units] of the peepholes; read only when the cell has them.
  void set_peepholes(const float* wci, const float* wcf, const float* wco) {
    wci_ = wci;
    wcf_ = wcf;
    wco_ = wco;
  }
  bool peephole() const { return peephole_; }

  // gates: [x, h_prev] * w + b, a row of 4 * units.
  void Forward(int64_t units, const float* gates, const float* cs_prev, const LstmRow& row) const;

  // From the gradients of cs and h that of gates (d_gates), and that of cs_prev.
  void Backward(int64_t units, const float* cs_prev, const LstmRow& row, const float* cs_grad,
                const float* h_grad, float* d_gates, float* cs_prev_grad) const;
  // Adds a row's part to the gradients of the peephole weights.
  void AddPeepholeGradients(int64_t units, const float* cs_prev, const LstmRow& row,
                            const float* d_gates, float* wci_grad, float* wcf_grad,
                            float* wco_grad) const;

 private:
  const GateOrder order_;
  const bool peephole_;
  const float forget_bias_, cell_clip_;
  const float *wci_ = nullptr, *wcf_ = nullptr, *wco_ = nullptr;
  const UnaryLoop sigmoid_ = FloatUnaryLoop(ElementwiseOp::kSigmoid);
  const UnaryLoop tanh_ = FloatUnaryLoop(ElementwiseOp::kTanh);
};

}  // namespace sextant
