// Chapter 12: a program of TensorFlow 1, name by name.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

int main() {
  sx::Graph graph;
  graph.set_seed(1);
  const sx::GraphScope use(graph);

  // x = tf.placeholder(tf.float32, [None, 2]); y = tf.placeholder(tf.int64, [None])
  const sx::Output x = sx::Placeholder(sx::DType::kFloat, {-1, 2});
  const sx::Output y = sx::Placeholder(sx::DType::kInt64, sx::PartialShape{-1});

  // with tf.variable_scope('net'): ...
  sx::Output logits;
  {
    const sx::VariableScope scope("net");
    const sx::Variable w = sx::GetVariable(
        "w", {.shape = {2, 2}, .initializer = sx::initializers::TruncatedNormal(0, 0.1f)});
    const sx::Variable b =
        sx::GetVariable("b", {.shape = {2}, .initializer = sx::initializers::Zeros()});
    logits = sx::BiasAdd(sx::MatMul(x, w), b);
  }

  // loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits, y))
  const sx::Output loss = sx::ReduceMean(sx::SparseSoftmaxCrossEntropyWithLogits(logits, y).loss);
  const sx::Operation train = sx::train::GradientDescentOptimizer(0.5).Minimize(loss);

  // with tf.Session() as sess: sess.run(tf.initialize_all_variables())
  sx::Session session(graph);
  session.Run(sx::GlobalVariablesInitializer());
  const sx::FeedMap feeds = {{x, sx::Tensor::Of<float>({4, 2}, {1, 0, 2, 1, -1, 0, -2, 1})},
                             {y, sx::Tensor::Of<int64_t>({1, 1, 0, 0})}};
  for (int i = 0; i < 50; ++i) session.Run(feeds, train);

  // writer = tf.train.SummaryWriter('logs', graph);
  // writer.add_summary(sess.run(tf.merge_summary([...])), 50)
  const sx::Output merged = sx::MergeSummary({sx::summaries::Scalar("loss", loss)});
  sx::train::SummaryWriter writer("logs", graph);
  writer.AddSummary(session.Run(feeds, merged), 50);
  writer.Close();

  const sx::Tensor classes = session.Run(feeds, sx::ArgMax(logits, 1));
  for (const int64_t value : classes.flat<int64_t>()) fmt::print("{} ", value);
  fmt::print("\n");
}
