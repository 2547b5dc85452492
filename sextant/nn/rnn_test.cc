#include "sextant/nn/rnn.h"

#include <map>

#include "sextant/graph/scope.h"
#include "sextant/nn/golden_values.h"
#include "sextant/nn/seq2seq.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/math/activation.h"
#include "sextant/runtime/session.h"

namespace sextant::rnn {
namespace {

CellRef MakeCell(const std::string& name) {
  if (name == "basic_rnn") return BasicRnnCell({.units = 4});
  if (name == "gru") return GruCell({.units = 4});
  if (name == "gru_relu") return GruCell({.units = 4, .activation = Relu});
  if (name == "basic_lstm") return BasicLstmCell({.units = 4, .forget_bias = 0.5F});
  return MultiRnnCell({BasicLstmCell({.units = 4}), GruCell({.units = 3})});
}

void AssignGolden(Session& session, const nlohmann::json& cell) {
  const std::vector<Variable> variables = CollectedVariables();
  ASSERT_EQ(variables.size(), cell.at("variables").size());
  for (size_t i = 0; i < variables.size(); ++i) {
    EXPECT_EQ(variables[i].name(), cell.at("names")[i].get<std::string>());
    session.Run(variables[i].Assign(Const(GoldenTensor(cell.at("variables")[i]))));
  }
}

TEST(RnnTest, CellsInALoopAsTensorFlow) {
  for (const auto& golden : GoldenValues("cells")) {
    const std::string name = golden.at("name");
    Graph graph;
    const GraphScope scope(graph);
    DynamicRnnOptions options;
    if (golden.contains("lengths")) {
      options.sequence_length = Const(GoldenTensor(golden.at("lengths")));
    }
    const DynamicRnnResult result =
        DynamicRnn(MakeCell(name), Const(GoldenTensor(golden.at("input"))), options);
    Session session(graph);
    AssignGolden(session, golden);
    ExpectGolden(session.Run(result.outputs), golden.at("outputs"), name);
    ASSERT_EQ(result.state.size(), golden.at("state").size()) << name;
    for (size_t i = 0; i < result.state.size(); ++i) {
      ExpectGolden(session.Run(result.state[i]), golden.at("state")[i], name + " state");
    }
  }
}

// One copy a step, and the loop over a transposed input: the same numbers.
TEST(RnnTest, UnrolledAndTimeMajorAreTheSame) {
  for (const auto& golden : GoldenValues("cells")) {
    if (golden.contains("lengths")) continue;
    const std::string name = golden.at("name");
    Graph graph;
    const GraphScope scope(graph);
    const std::vector<Output> steps = Unstack(Const(GoldenTensor(golden.at("input"))), 1);
    const RnnResult unrolled = StaticRnn(MakeCell(name), steps);
    Session session(graph);
    AssignGolden(session, golden);
    ExpectGolden(session.Run(Stack(unrolled.outputs, 1)), golden.at("outputs"), name);
    const DynamicRnnResult major = DynamicRnn(MakeCell(name), Stack(steps), {.time_major = true});
    const std::vector<Output> outputs = Unstack(major.outputs);
    ExpectGolden(session.Run(Stack(outputs, 1)), golden.at("outputs"), name + " time major");
  }
}

TEST(RnnTest, LstmStateHasItsPartsByName) {
  Graph graph;
  const GraphScope scope(graph);
  const CellRef cell =
      MultiRnnCell({GruCell({.units = 3}), BasicLstmCell({.units = 4}), GruCell({.units = 2})});
  const DynamicRnnResult result = DynamicRnn(cell, Ones({2, 3, 5}));
  const LstmState state = cell->LayerState(result.state, 1);
  EXPECT_EQ(state.c, result.state[1]);
  EXPECT_EQ(state.h, result.state[2]);
  EXPECT_EQ(State(state), (State{result.state[1], result.state[2]}));
  EXPECT_EQ(cell->LayerState(result.state, 2), State{result.state[3]});
  EXPECT_THROW(cell->LayerState(result.state, 3), Error);
  EXPECT_THROW(LstmState(State{result.state[0]}), Error);
  // A state begins a sequence too.
  const CellRef lstm = BasicLstmCell({.units = 4});
  const VariableScope other("other");
  DynamicRnn(lstm, Ones({2, 3, 5}), {.initial = LstmState{state.c, state.h}});
}

// The batch of a run is not known before, dropout wraps the cell: as without both.
TEST(RnnTest, UnknownBatchesAndWrappedCellsGiveTheSame) {
  const auto& golden = GoldenValues("cells").at(0);
  Graph graph;
  const GraphScope scope(graph);
  const Output input = Const(GoldenTensor(golden.at("input")));
  const CellRef cell =
      DropoutWrapper(MakeCell(golden.at("name")), {.output_rate = 0.5F, .training = false});
  PartialShape shape = input.shape();
  shape = PartialShape({-1, -1, shape[2]});
  const DynamicRnnResult result = DynamicRnn(cell, PlaceholderWithDefault(input, shape));
  EXPECT_EQ(cell->LayerState(result.state, 0), result.state);
  EXPECT_THROW(cell->LayerState(result.state, 1), Error);
  Session session(graph);
  AssignGolden(session, golden);
  ExpectGolden(session.Run(result.outputs), golden.at("outputs"), golden.at("name"));
}

TEST(RnnTest, DropoutZeroesOutputsOnlyWhileTraining) {
  Graph graph;
  const GraphScope scope(graph);
  const std::vector<Output> x = {Ones({50, 5})};
  const auto count_zeros = [&](bool training, const char* name) {
    const CellRef cell =
        DropoutWrapper(GruCell({.units = 20}), {.output_rate = 0.5F, .training = training});
    const RnnResult result = StaticRnn(cell, x, {}, name);
    Session session(graph);
    session.Run(GlobalVariablesInitializer());
    int64_t zeros = 0;
    const Tensor outputs = session.Run(result.outputs[0]);
    for (const float y : outputs.flat<float>()) zeros += y == 0;
    return zeros;
  };
  EXPECT_EQ(count_zeros(false, "a"), 0);
  EXPECT_NEAR(static_cast<double>(count_zeros(true, "b")), 500, 5 * std::sqrt(1000 * 0.25));
}

// By hand: cross entropies of uniform logits are log 2; weights choose the steps that count.
TEST(RnnTest, SequenceLossAveragesByWeights) {
  Graph graph;
  const GraphScope scope(graph);
  const Output logits = Zeros({2, 2}), targets = Const(Tensor::Of<int32_t>({0, 1}));
  const Output all = Ones({2}), first = Const(Tensor::Of<float>({1, 0}));
  const auto loss = [&](bool steps, bool batch) {
    return Session(graph)
        .Run(
            seq2seq::SequenceLoss({logits, logits}, {targets, targets}, {all, first}, steps, batch))
        .scalar<float>();
  };
  const float log2 = std::log(2.0F);
  EXPECT_NEAR(loss(true, true), log2, 1e-6F);
  EXPECT_NEAR(loss(false, true), log2 * 1.5F, 1e-6F);  // (2 + 1) log 2 over two rows
  EXPECT_NEAR(loss(true, false), log2 * 2, 1e-6F);
  EXPECT_NEAR(loss(false, false), log2 * 3, 1e-6F);
}

TEST(RnnTest, BadArgumentsAreErrors) {
  Graph graph;
  const GraphScope scope(graph);
  EXPECT_THROW(GruCell({}), Error);
  EXPECT_THROW(MultiRnnCell({}), Error);
  EXPECT_THROW(StaticRnn(GruCell({.units = 2}), {}), Error);
  EXPECT_THROW(DynamicRnn(GruCell({.units = 2}), Ones({2, 3})), Error);
  const Output ids = Const(Tensor::Of<int32_t>({0}));
  const auto model = [&](std::vector<Output> decoder, int64_t symbols) {
    return seq2seq::EmbeddingRnnSeq2Seq(
        {ids}, decoder, GruCell({.units = 2}),
        {.num_encoder_symbols = symbols, .num_decoder_symbols = symbols, .embedding_size = 2});
  };
  EXPECT_THROW(model({}, 3), Error);
  EXPECT_THROW(model({ids}, 0), Error);
  EXPECT_EQ(model({ids, ids}, 3).outputs.size(), 2U);
  EXPECT_THROW(seq2seq::SequenceLoss({Ones({1, 3})}, {ids}, {}), Error);
}

}  // namespace
}  // namespace sextant::rnn
