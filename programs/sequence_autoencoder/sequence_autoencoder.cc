// Learns to say sequences of symbols again: one GRU reads them to a state, another one writes them.
#include <fmt/format.h>

#include <limits>
#include <numeric>
#include <random>

#include "sextant/proto/graph.pb.h"
#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

constexpr int64_t kSeqLength = 5, kVocabSize = 7, kMemoryDim = 100;

struct Options {
  int64_t steps = 500, batch_size = 64, test_sequences = 10, seed = 1;
  double learning_rate = 0.05, momentum = 0.9;
  std::string device = "/gpu:0", logdir = "logs/sequence_autoencoder";
};

// Per position the symbols of the batch. A sequence has no symbol twice.
std::vector<sx::Tensor> Sequences(std::mt19937_64& random, int64_t batch_size) {
  std::vector<sx::Tensor> sequences;
  for (int t = 0; t < kSeqLength; ++t)
    sequences.emplace_back(sx::DType::kInt32, sx::Shape{batch_size});
  for (int64_t b = 0; b < batch_size; ++b) {
    std::vector<int32_t> symbols(kVocabSize);
    std::iota(symbols.begin(), symbols.end(), 0);
    for (int t = 0; t < kSeqLength; ++t) {
      std::swap(symbols[t], symbols[t + random() % (kVocabSize - t)]);
      sequences[t].data<int32_t>()[b] = symbols[t];
    }
  }
  return sequences;
}

sx::FeedMap Feeds(const std::vector<sx::Output>& places, const std::vector<sx::Tensor>& values) {
  sx::FeedMap feeds;
  for (size_t t = 0; t < places.size(); ++t) feeds.emplace_back(places[t], values[t]);
  return feeds;
}

std::string AsMatrix(const std::vector<sx::Tensor>& rows) {
  sx::Tensor matrix(sx::DType::kInt32, sx::Shape{kSeqLength, rows[0].num_elements()});
  for (int64_t t = 0; t < kSeqLength; ++t) {
    std::ranges::copy(rows[t].flat<int32_t>(), matrix.data<int32_t>() + t * matrix.dim(1));
  }
  return matrix.ToString();
}

void Train(const Options& options) {
  if (options.logdir.empty()) throw sx::InvalidArgument("--logdir must name a folder, not ''");
  sx::Graph graph;
  graph.set_seed(options.seed);
  sx::GraphScope use(graph);
  std::vector<sx::Output> enc_inp, labels;
  for (int t = 0; t < kSeqLength; ++t) {
    const auto place = [&](const char* name) {
      return sx::Placeholder(sx::DType::kInt32, sx::PartialShape{-1}, fmt::format("{}{}", name, t));
    };
    enc_inp.push_back(place("inp"));
    labels.push_back(place("labels"));
  }
  sx::models::SequenceAutoencoder model;
  sx::Operation train_op;
  {
    sx::DeviceScope on(options.device);
    model = sx::models::BuildSequenceAutoencoder(enc_inp, labels,
                                                 {.vocabulary = kVocabSize, .units = kMemoryDim});
    train_op =
        sx::train::Momentum({.learning_rate = options.learning_rate, .momentum = options.momentum})
            .Minimize(model.loss);
  }
  sx::summaries::Scalar("loss", model.loss);
  const sx::Output magnitude = sx::Sqrt(sx::Sum(sx::Square(model.outputs[1]), {0, 1}));
  sx::summaries::Scalar("magnitude at t=1", magnitude);
  const sx::Output summary_op = sx::summaries::MergeAll();
  std::vector<sx::Output> symbols;
  for (const sx::Output& logits : model.outputs) {
    symbols.push_back(sx::Cast(sx::ArgMax(logits, 1), sx::DType::kInt32));
  }
  const sx::Operation init = sx::GlobalVariablesInitializer();

  sx::FileSystem::ForPath(options.logdir).CreateDirectories(options.logdir);
  sx::train::SummaryWriter summary_writer(options.logdir, graph);
  sx::Session session(graph);
  session.Run(init);
  std::mt19937_64 random(static_cast<uint64_t>(options.seed));
  for (int64_t t = 0; t < options.steps; ++t) {
    const std::vector<sx::Tensor> batch = Sequences(random, options.batch_size);
    sx::FeedMap feeds = Feeds(enc_inp, batch);
    std::ranges::copy(Feeds(labels, batch), std::back_inserter(feeds));
    summary_writer.AddSummary(session.Run(feeds, std::vector{summary_op}, {train_op})[0], t);
  }
  summary_writer.Close();

  const std::vector<sx::Tensor> test = Sequences(random, options.test_sequences);
  const std::vector<sx::Tensor> said = session.Run(Feeds(enc_inp, test), symbols);
  fmt::print("{}\n{}\n", AsMatrix(test), AsMatrix(said));
  int64_t right = 0;
  for (int64_t b = 0; b < options.test_sequences; ++b) {
    int matches = 0;
    for (int t = 0; t < kSeqLength; ++t) {
      matches += test[t].data<int32_t>()[b] == said[t].data<int32_t>()[b];
    }
    right += matches == kSeqLength;
  }
  fmt::print("{} of {} sequences recovered\n", right, options.test_sequences);

  const auto first_scope = [](const std::string& name) {
    const size_t at = name.find('_');
    return at == std::string::npos ? name : name.substr(0, at) + "/" + name.substr(at + 1);
  };
  const sx::proto::GraphDef renamed = sx::RenameNodes(sx::ExportGraphDef(graph), first_scope);
  sx::WriteGraphPage(sx::StripConstants(renamed), sx::JoinPath(options.logdir, "graph.html"));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  sx::Flags flags("Trains a GRU sequence autoencoder on random permutations.");
  flags.Add("steps", &options.steps, "number of updates", {.min = 0});
  flags.Add("batch_size", &options.batch_size, "sequences of a step", {.min = 1, .max = 1 << 24});
  flags.Add("learning_rate", &options.learning_rate, "of the momentum optimizer",
            {.min = 0, .max = std::numeric_limits<float>::max()});
  flags.Add("momentum", &options.momentum, "of the momentum optimizer",
            {.min = 0, .max = std::numeric_limits<float>::max()});
  flags.Add("test_sequences", &options.test_sequences, "sequences to recover",
            {.min = 1, .max = 1 << 24});
  flags.Add("seed", &options.seed, "of the weights and of the sequences");
  flags.Add("device", &options.device, "where the network is; /cpu:0 if it is not there");
  flags.Add("logdir", &options.logdir, "folder of the events and the graph page");
  return flags.Main(argc, argv, [&] { Train(options); });
}
