#include "sextant/ops/rnn/lstm_cell.h"

#include <algorithm>

namespace sextant {

void LstmCell::Forward(int64_t units, const float* gates, const float* cs_prev,
                       const LstmRow& row) const {
  const float *g_i = gates + order_.i * units, *g_ci = gates + order_.ci * units;
  const float *g_f = gates + order_.f * units, *g_o = gates + order_.o * units;
  for (int64_t j = 0; j < units; ++j) {
    row.i[j] = g_i[j];
    row.f[j] = g_f[j] + forget_bias_;
    row.o[j] = g_o[j];
  }
  if (peephole_) {
    for (int64_t j = 0; j < units; ++j) {
      row.i[j] += cs_prev[j] * wci_[j];
      row.f[j] += cs_prev[j] * wcf_[j];
    }
  }
  sigmoid_(row.i, row.i, units);
  sigmoid_(row.f, row.f, units);
  tanh_(g_ci, row.ci, units);
  for (int64_t j = 0; j < units; ++j) row.cs[j] = row.ci[j] * row.i[j] + cs_prev[j] * row.f[j];
  if (cell_clip_ > 0) {
    for (int64_t j = 0; j < units; ++j) {
      row.cs[j] = std::min(std::max(row.cs[j], -cell_clip_), cell_clip_);
    }
  }
  if (peephole_) {
    for (int64_t j = 0; j < units; ++j) row.o[j] += row.cs[j] * wco_[j];
  }
  sigmoid_(row.o, row.o, units);
  tanh_(row.cs, row.co, units);
  for (int64_t j = 0; j < units; ++j) row.h[j] = row.co[j] * row.o[j];
}

void LstmCell::Backward(int64_t units, const float* cs_prev, const LstmRow& row,
                        const float* cs_grad, const float* h_grad, float* d_gates,
                        float* cs_prev_grad) const {
  float *d_i = d_gates + order_.i * units, *d_ci = d_gates + order_.ci * units;
  float *d_f = d_gates + order_.f * units, *d_o = d_gates + order_.o * units;
  for (int64_t j = 0; j < units; ++j) {
    const float i = row.i[j], f = row.f[j], o = row.o[j], ci = row.ci[j], co = row.co[j];
    d_o[j] = h_grad[j] * co * o * (1 - o);
    float d_cs = h_grad[j] * o * (1 - co * co) + cs_grad[j];
    if (peephole_) d_cs += d_o[j] * wco_[j];
    d_ci[j] = d_cs * i * (1 - ci * ci);
    d_f[j] = d_cs * cs_prev[j] * f * (1 - f);
    d_i[j] = d_cs * ci * i * (1 - i);
    cs_prev_grad[j] = d_cs * f;
    if (peephole_) cs_prev_grad[j] += d_i[j] * wci_[j] + d_f[j] * wcf_[j];
  }
}

void LstmCell::AddPeepholeGradients(int64_t units, const float* cs_prev, const LstmRow& row,
                                    const float* d_gates, float* wci_grad, float* wcf_grad,
                                    float* wco_grad) const {
  const float *d_i = d_gates + order_.i * units, *d_f = d_gates + order_.f * units;
  const float* d_o = d_gates + order_.o * units;
  for (int64_t j = 0; j < units; ++j) {
    wci_grad[j] += d_i[j] * cs_prev[j];
    wcf_grad[j] += d_f[j] * cs_prev[j];
    wco_grad[j] += d_o[j] * row.cs[j];
  }
}

}  // namespace sextant
