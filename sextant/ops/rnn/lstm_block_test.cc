// The block ops against the same steps written out with simple ops, values and gradients.
#include "sextant/ops/rnn/lstm_block.h"

#include <cmath>

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/bias.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/trig.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

struct State {
  Output cs, h;
};

class LstmBlockTest : public ArrayTest {
 protected:
  static constexpr int64_t kTime = 3, kBatch = 2, kInputs = 3, kUnits = 4;

  static Tensor Noise(const Shape& shape, int seed) {
    Tensor t(DType::kFloat, shape);
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      t.data<float>()[i] = std::sin(static_cast<float>(i * 37 + seed * 11) * 0.7f);
    }
    return t;
  }
  static void ExpectClose(const Tensor& a, const Tensor& b) {
    ASSERT_EQ(a.shape(), b.shape());
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      EXPECT_NEAR(a.data<float>()[i], b.data<float>()[i], 2e-5) << "element " << i;
    }
  }

  // "order": where i, ci, f and o are in the weights.
  State Step(Output x, State state, const std::vector<int>& order, float forget_bias,
             bool peephole) {
    const Output gates = BiasAdd(MatMul(Concat({x, state.h}, 1), weights_.w), weights_.b);
    const std::vector<Output> parts = Split(gates, 4, 1);
    Output i = parts[order[0]], f = parts[order[2]] + forget_bias, o = parts[order[3]];
    if (peephole) {
      i = i + state.cs * weights_.wci;
      f = f + state.cs * weights_.wcf;
    }
    const Output cs = Sigmoid(i) * Tanh(parts[order[1]]) + Sigmoid(f) * state.cs;
    if (peephole) o = o + cs * weights_.wco;
    return {cs, Tanh(cs) * Sigmoid(o)};
  }
  State InitialState() const { return {cs_prev_, h_prev_}; }
  std::vector<Output> Inputs(Output x, bool peephole) const {
    std::vector<Output> inputs = {x, cs_prev_, h_prev_, weights_.w, weights_.b};
    if (peephole) inputs.insert(inputs.end(), {weights_.wci, weights_.wcf, weights_.wco});
    return inputs;
  }
  void ExpectSameGradients(const std::vector<Output>& a, const std::vector<Output>& b,
                           const std::vector<Output>& inputs) {
    const auto grad_a = Gradients(a, inputs), grad_b = Gradients(b, inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      SCOPED_TRACE(i);
      ExpectClose(Run(grad_a[i]), Run(grad_b[i]));
    }
  }

  // The sequence of two of the three steps.
  void CheckSequence(const LstmBlockResult& block, const std::vector<int>& order, float forget_bias,
                     bool peephole) {
    State state = InitialState();
    std::vector<Output> all_h, all_cs;
    for (int64_t t = 0; t < 2; ++t) {
      const Output step = Squeeze(Slice(sequence_, {t, 0, 0}, {1, kBatch, kInputs}), {0});
      state = Step(step, state, order, forget_bias, peephole);
      all_h.push_back(state.h * h_weight_);
      all_cs.push_back(state.cs);
    }
    const Output h = Slice(block.h, {1, 0, 0}, {1, kBatch, kUnits});
    ExpectClose(Run(Squeeze(h, {0})), Run(state.h));
    EXPECT_EQ(Run(Slice(block.h, {2, 0, 0}, {1, kBatch, kUnits})).data<float>()[0], 0.0f);
    const std::vector<Output> ours = {block.h * h_weight_, block.cs};
    std::vector<Output> theirs = all_h;
    theirs.insert(theirs.end(), all_cs.begin(), all_cs.end());
    ExpectSameGradients(ours, theirs, Inputs(sequence_, peephole));
  }

  const Output x_ = Hidden(Noise({kBatch, kInputs}, 1));
  const Output sequence_ = Hidden(Noise({kTime, kBatch, kInputs}, 2));
  const Output cs_prev_ = Hidden(Noise({kBatch, kUnits}, 3));
  const Output h_prev_ = Hidden(Noise({kBatch, kUnits}, 4));
  const Output h_weight_ = Const(Noise({kBatch, kUnits}, 10));
  const LstmWeights weights_ = {.w = Hidden(Noise({kInputs + kUnits, 4 * kUnits}, 5)),
                                .b = Hidden(Noise({4 * kUnits}, 6)),
                                .wci = Hidden(Noise({kUnits}, 7)),
                                .wcf = Hidden(Noise({kUnits}, 8)),
                                .wco = Hidden(Noise({kUnits}, 9))};
  const std::vector<int> v1_ = {0, 1, 2, 3}, v2_ = {0, 2, 1, 3};
};

TEST_F(LstmBlockTest, CellIsOneStep) {
  for (const bool peephole : {false, true}) {
    const auto block =
        LSTMBlockCell(x_, cs_prev_, h_prev_, weights_,
                      {.forget_bias = 0.5f, .cell_clip = -1, .use_peephole = peephole});
    const State step = Step(x_, InitialState(), v1_, 0.5f, peephole);
    ExpectClose(Run(block.cs), Run(step.cs));
    ExpectClose(Run(block.h), Run(step.h));
    ExpectSameGradients({block.h * h_weight_, block.cs}, {step.h * h_weight_, step.cs},
                        Inputs(x_, peephole));
  }
}

TEST_F(LstmBlockTest, ClipsTheCellState) {
  const auto block = LSTMBlockCell(x_, cs_prev_, h_prev_, weights_, {.cell_clip = 0.25f});
  const Tensor cs = Run(block.cs);
  for (float value : cs.flat<float>()) EXPECT_LE(std::abs(value), 0.25f);
}

TEST_F(LstmBlockTest, SequencesAreSteps) {
  const Output two = Hidden(Tensor(int64_t{2}));
  for (const bool peephole : {false, true}) {
    CheckSequence(BlockLSTM(two, sequence_, cs_prev_, h_prev_, weights_,
                            {.cell_clip = 0, .use_peephole = peephole}),
                  v1_, 1.0f, peephole);
    CheckSequence(
        BlockLSTMV2(two, sequence_, cs_prev_, h_prev_, weights_, {.use_peephole = peephole}), v2_,
        0.0f, peephole);
  }
}

TEST_F(LstmBlockTest, RefusesLengthsAndShapesThatDoNotFit) {
  const Output four = Hidden(Tensor(int64_t{4}));
  EXPECT_NE(ErrorOf(BlockLSTM(four, sequence_, cs_prev_, h_prev_, weights_).h)
                .find("seq_len_max must be in [0, 3], got 4"),
            std::string::npos);
  LstmWeights wrong = weights_;
  wrong.b = Hidden(Noise({3}, 1));
  EXPECT_NE(ErrorOf(LSTMBlockCell(x_, cs_prev_, h_prev_, wrong).h)
                .find("b must have the shape [16], got [3]"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant
