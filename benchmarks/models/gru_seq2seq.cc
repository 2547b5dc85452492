#include "benchmarks/models/gru_seq2seq.h"

#include <cmath>

#include "benchmarks/models/optimizers.h"
#include "sextant/ops/nn/cross_entropy.h"
#include "sextant/sextant.h"

namespace sextant::bench {
namespace {

Variable Uniform(const std::string& name, const Shape& shape, double limit) {
  return Variable(name, [&] { return RandomUniform(shape, {.min = -limit, .max = limit}); });
}

// Gates from one product, the candidate from another.
class GruCell {
 public:
  explicit GruCell(const std::string& name)
      : gates_(Uniform(name + "/gates", {2 * kGruUnits, 2 * kGruUnits}, kLimit)),
        gates_bias_(name + "/gates_bias", Ones({2 * kGruUnits})),
        candidate_(Uniform(name + "/candidate", {2 * kGruUnits, kGruUnits}, kLimit)),
        candidate_bias_(name + "/candidate_bias", Zeros({kGruUnits})) {}

  Output Step(Output x, Output h) const {
    const std::vector<Output> gates =
        Split(Sigmoid(MatMul(Concat({x, h}, 1), gates_) + gates_bias_), 2, 1);
    const Output reset = gates[0], update = gates[1];
    const Output candidate = Tanh(MatMul(Concat({x, reset * h}, 1), candidate_) + candidate_bias_);
    return update * h + (1.0f - update) * candidate;
  }

 private:
  static inline const double kLimit = std::sqrt(3.0 / (2 * kGruUnits));
  Variable gates_, gates_bias_, candidate_, candidate_bias_;
};

}  // namespace

GruSeq2Seq BuildGruSeq2Seq(int64_t batch) {
  GruSeq2Seq model;
  for (int i = 0; i < kGruLength; ++i) {
    model.inputs.push_back(Placeholder(DType::kInt32, PartialShape{-1}));
  }
  const GruCell encoder("encoder"), decoder("decoder");
  const Variable table_in = Uniform("table_in", {kGruSymbols, kGruUnits}, std::sqrt(3.0));
  const Variable table_out =
      Uniform("table_out", {kGruSymbols, kGruUnits}, std::sqrt(3.0 / kGruSymbols));
  const Variable projection =
      Uniform("projection", {kGruUnits, kGruSymbols}, std::sqrt(3.0 / kGruUnits));
  const Variable bias("bias", Zeros({kGruSymbols}));

  Output state = Zeros({batch, kGruUnits});
  for (const Output x : model.inputs) {
    state = encoder.Step(ResourceGather(table_in.handle(), x), state);
  }
  std::vector<Output> losses;
  for (int i = 0; i < kGruLength; ++i) {
    // The decoder sees the symbol before the one it has to write.
    const Output x = i == 0 ? ZerosLike(model.inputs[0]) : model.inputs[i - 1];
    state = decoder.Step(ResourceGather(table_out.handle(), x), state);
    const Output logits = MatMul(state, projection) + bias;
    losses.push_back(SparseSoftmaxCrossEntropyWithLogits(logits, model.inputs[i]).loss);
  }
  model.loss = Mean(AddN(losses) / static_cast<float>(kGruLength), 0);
  model.train =
      MinimizeByMomentum(model.loss, CollectedVariables(kTrainableVariables), 0.05f, 0.9f);
  return model;
}

}  // namespace sextant::bench
