// The autoencoder against TensorFlow 2.15: losses of the first steps and norms of gradients, from
// the same initial values and data, made by benchmarks/peers/gru_tf1.py.
#include "sextant/models/sequence_autoencoder.h"

#include <gtest/gtest.h>

#include "sextant/models/trajectory_test.h"
#include "sextant/sextant.h"

namespace sextant::models {
namespace {

// In the order in which the recorded run made them.
const char* const kRecordedOrder[] = {
    "embedding_rnn_seq2seq/rnn/embedding_wrapper/rnn/gru_cell/gates/kernel",
    "embedding_rnn_seq2seq/rnn/embedding_wrapper/rnn/gru_cell/gates/bias",
    "embedding_rnn_seq2seq/rnn/embedding_wrapper/rnn/gru_cell/candidate/kernel",
    "embedding_rnn_seq2seq/rnn/embedding_wrapper/rnn/gru_cell/candidate/bias",
    "embedding_rnn_seq2seq/embedding_rnn_decoder/rnn_decoder/gru_cell/gates/kernel",
    "embedding_rnn_seq2seq/embedding_rnn_decoder/rnn_decoder/gru_cell/gates/bias",
    "embedding_rnn_seq2seq/embedding_rnn_decoder/rnn_decoder/gru_cell/candidate/kernel",
    "embedding_rnn_seq2seq/embedding_rnn_decoder/rnn_decoder/gru_cell/candidate/bias",
    "embedding_rnn_seq2seq/rnn/embedding_wrapper/embedding",
    "embedding_rnn_seq2seq/embedding_rnn_decoder/embedding",
    "embedding_rnn_seq2seq/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/kernel",
    "embedding_rnn_seq2seq/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/bias"};

TEST(SequenceAutoencoderTest, TrainsAsInTensorFlow) {
  Graph graph;
  const GraphScope use(graph);
  std::vector<Output> inputs;
  FeedMap feeds;
  for (int t = 0; t < 5; ++t) {
    inputs.push_back(Placeholder(DType::kInt32, PartialShape{-1}));
    Tensor symbols(DType::kInt32, Shape{8});
    for (int b = 0; b < 8; ++b) symbols.data<int32_t>()[b] = (3 * b + 2 * t + b / 4) % 7;
    feeds.emplace_back(inputs[t], symbols);
  }
  const SequenceAutoencoder model = BuildSequenceAutoencoder(inputs, inputs);
  std::vector<Variable> variables;
  for (const char* name : kRecordedOrder) {
    ASSERT_NE(graph.FindNode(name), nullptr) << name;
    variables.push_back(Variable::FromHandle(graph.FindOutput(name)));
  }
  ASSERT_EQ(variables.size(), CollectedVariables(kTrainableVariables).size());
  CheckTrajectory(
      model.loss, train::Momentum({.learning_rate = 0.05, .momentum = 0.9}).Minimize(model.loss),
      feeds, variables,
      {.gradient_norms = {0.0153953, 0.00335676, 0.10215, 0.0221307, 0.0817834, 0.0206738, 0.543431,
                          0.0392319, 0.0164174, 0.100422, 0.37345, 0.0488559},
       .losses = {1.948073, 1.924815, 1.881428, 1.821323}});
}

}  // namespace
}  // namespace sextant::models
