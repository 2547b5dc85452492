// Reads handwritten digits: two convolutions with pooling, a dense layer with dropout, a softmax.
#include <fmt/core.h>

#include <iostream>

#include "find_batch_size/find_batch_size.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

struct Options {
  std::string data_dir = "MNIST_data";
  std::string logdir = "logs/mnist_convnet";
  int64_t validation_size = 5000, iterations = 6000, batch_size = 50, seed = 1, memory_limit = 0;
  bool find_batch_size = false;
};

struct Network {
  sx::Output x = sx::Placeholder(sx::DType::kFloat, sx::PartialShape{-1, 784}, "x");
  sx::Output y_ = sx::Placeholder(sx::DType::kFloat, sx::PartialShape{-1, 10}, "y_");
  sx::Output keep_prob = sx::Placeholder(sx::DType::kFloat, sx::PartialShape{}, "keep_prob");
  sx::Output y_conv =
      sx::Softmax(sx::models::MnistConvnetLogits(x, {.dropout_rate = 1.0 - keep_prob}, true));
  sx::Output cross_entropy = -sx::Sum(y_ * sx::Log(y_conv), {0, 1});
  sx::Operation train_step = sx::train::Adam({.learning_rate = 1e-4}).Minimize(cross_entropy);
  sx::Output correct_prediction = sx::Equal(sx::ArgMax(y_conv, 1), sx::ArgMax(y_, 1));
  sx::Output accuracy = sx::Mean(sx::Cast(correct_prediction, sx::DType::kFloat), {0});

  sx::FeedMap Feeds(const sx::datasets::ImageBatches::Batch& batch, float keep) const {
    return {{x, batch.images}, {y_, batch.labels}, {keep_prob, sx::Tensor(keep)}};
  }
};

void WritePage(const sx::Graph& graph, const std::string& path) {
  const auto first_scope = [](const std::string& name) {
    const size_t at = name.find('_');
    return at == std::string::npos ? name : name.substr(0, at) + "/" + name.substr(at + 1);
  };
  const sx::proto::GraphDef renamed = sx::RenameNodes(sx::ExportGraphDef(graph), first_scope);
  sx::WriteGraphPage(sx::StripConstants(renamed), path);
}

void Train(const Options& options, const Network& network, sx::Session& session,
           sx::datasets::MnistSets sets) {
  sx::datasets::ImageBatches train(std::move(sets.train), options.seed);
  for (int64_t i = 0; i < options.iterations; ++i) {
    const auto batch = train.Next(options.batch_size);
    if (i % 100 == 0) {
      const float accuracy = session.Run(network.Feeds(batch, 1), network.accuracy).scalar<float>();
      fmt::print("step {}, training accuracy {:g}\n", i, accuracy);
      std::fflush(stdout);
    }
    session.Run(network.Feeds(batch, 0.5f), network.train_step);
  }

  // The test images at once would need gigabytes: the mean of parts of one size is the same.
  const auto test = sx::datasets::ImageBatches(std::move(sets.test)).All();
  const int64_t count = test.images.dim(0), part = 1000;
  double correct = 0;
  for (int64_t begin = 0; begin < count; begin += part) {
    const int64_t end = std::min(begin + part, count);
    const float accuracy =
        session
            .Run(network.Feeds({test.images.Rows(begin, end), test.labels.Rows(begin, end)}, 1),
                 network.accuracy)
            .scalar<float>();
    correct += accuracy * static_cast<double>(end - begin);
  }
  fmt::print("test accuracy {:g}\n", correct / static_cast<double>(count));
}

// Doubles the batch until a training step needs more than the session may use.
void FindBatchSize(const Network& network, sx::Session& session, sx::datasets::MnistSets sets) {
  sx::datasets::ImageBatches train(std::move(sets.train));
  programs::FindBatchSize(train.size(), [&](int64_t size) {
    session.Run(network.Feeds(train.Next(size), 0.5f), network.train_step);
  });
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  sx::Flags flags("Trains a convolutional net on MNIST.");
  flags.Add("data_dir", &options.data_dir, "folder of the four MNIST files; downloaded if missing");
  flags.Add("validation_size", &options.validation_size,
            "training images that are kept for validation", {.min = 0});
  flags.Add("logdir", &options.logdir, "folder of the graph page");
  flags.Add("iterations", &options.iterations, "training steps", {.min = 0});
  flags.Add("batch_size", &options.batch_size, "images of a step", {.min = 1});
  flags.Add("seed", &options.seed, "of the weights, of dropout and of shuffling");
  flags.Add("memory_limit", &options.memory_limit, "bytes of tensors alive at once; 0: no limit",
            {.min = 0});
  flags.Add("find_batch_size", &options.find_batch_size, "only look for the largest batch");
  return flags.Main(argc, argv, [&] {
    if (options.data_dir.empty()) throw sx::InvalidArgument("Please supply a data_dir");
    if (options.logdir.empty()) throw sx::InvalidArgument("--logdir must name a folder, not ''");
    sx::datasets::MnistSets sets =
        sx::datasets::ReadMnist(options.data_dir, std::cout, options.validation_size);
    if (!options.find_batch_size && options.batch_size > sets.train.size()) {
      throw sx::InvalidArgument("a batch of {} cannot be taken from {} images", options.batch_size,
                                sets.train.size());
    }
    sx::Graph graph;
    graph.set_seed(options.seed);
    sx::GraphScope use(graph);
    const Network network;
    const sx::Operation init = sx::GlobalVariablesInitializer();
    sx::Session session(graph, {.memory_limit = options.memory_limit});
    session.Run(init);
    if (options.find_batch_size) return FindBatchSize(network, session, std::move(sets));
    sx::FileSystem::ForPath(options.logdir).CreateDirectories(options.logdir);
    WritePage(graph, sx::JoinPath(options.logdir, "graph.html"));
    Train(options, network, session, std::move(sets));
  });
}
