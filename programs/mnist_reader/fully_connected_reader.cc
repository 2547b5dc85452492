// Trains a network of two hidden layers on MNIST, read from the file that convert_to_records wrote.
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

constexpr int64_t kImagePixels = 28 * 28, kClasses = 10;

struct Options {
  double learning_rate = 0.01;
  int64_t num_epochs = 2, hidden1 = 128, hidden2 = 32, batch_size = 100;
  std::optional<int64_t> seed;
  std::string train_dir = "/tmp/data";
};

// Pixels 0..255 become -0.5..0.5.
sx::data::Element Normalized(sx::data::Element element) {
  const sx::Tensor pixels = element["image_raw"];
  sx::Tensor image(sx::DType::kFloat, pixels.shape());
  std::ranges::transform(pixels.flat<uint8_t>(), image.data<float>(), [](uint8_t pixel) {
    return static_cast<float>(pixel) * (1.0f / 255) - 0.5f;
  });
  element.Set("image_raw", std::move(image));
  return element;
}

std::string TrainFile(const Options& options) {
  return sx::JoinPath(options.train_dir, "train.tfrecords");
}

sx::data::Dataset Inputs(const Options& options) {
  return sx::data::TFRecordFiles({TrainFile(options)})
      .ParseExamples({{.name = "image_raw",
                       .dtype = sx::DType::kString,
                       .shape = {kImagePixels},
                       .decode_raw = sx::DType::kUInt8},
                      {.name = "label", .dtype = sx::DType::kInt64}})
      .Map(Normalized,
           {.spec = sx::data::ElementSpec{{"image_raw", sx::DType::kFloat, {kImagePixels}},
                                          {"label", sx::DType::kInt64, sx::Shape()}}})
      .Shuffle(1000 + 3 * options.batch_size, {.seed = options.seed})
      .Repeat(options.num_epochs)
      .Batch(options.batch_size);
}

// A layer whose variables "weights" and "biases" are in the scope `name`.
sx::Output Layer(sx::Output x, int64_t inputs, int64_t units, const char* name) {
  const sx::NameScope scope(name);
  const double stddev = 1 / std::sqrt(static_cast<double>(inputs));
  const sx::Variable weights("weights", sx::TruncatedNormal({inputs, units}, {.stddev = stddev}));
  const sx::Variable biases("biases", sx::Zeros({units}));
  return sx::MatMul(x, weights) + biases;
}

void Train(const Options& options) {
  sx::Graph graph;
  graph.set_seed(options.seed);
  sx::GraphScope use(graph);
  const std::unique_ptr<sx::data::Iterator> input = Inputs(options).MakeIterator();
  const sx::Output images = sx::Placeholder(sx::DType::kFloat, sx::PartialShape{-1, kImagePixels});
  const sx::Output labels = sx::Placeholder(sx::DType::kInt64, sx::PartialShape{-1});

  sx::Output x = sx::Relu(Layer(images, kImagePixels, options.hidden1, "hidden1"));
  x = sx::Relu(Layer(x, options.hidden1, options.hidden2, "hidden2"));
  const sx::Output logits = Layer(x, options.hidden2, kClasses, "softmax_linear");
  const sx::Output loss =
      sx::Mean(sx::SparseSoftmaxCrossEntropyWithLogits(logits, labels).loss, {0});
  sx::summaries::Scalar("loss", loss);
  const sx::Variable global_step("global_step", sx::Tensor(int64_t{0}), {.trainable = false});
  const sx::Operation train_op =
      sx::train::GradientDescent({.learning_rate = options.learning_rate})
          .Minimize(loss, {.global_step = global_step});
  const sx::Operation init = sx::GlobalVariablesInitializer();

  sx::Session session(graph);
  session.Run(init);
  int64_t step = 0;
  for (sx::data::Element batch; input->Next(&batch); ++step) {
    const auto start = std::chrono::steady_clock::now();
    const float loss_value = session
                                 .Run({{images, batch["image_raw"]}, {labels, batch["label"]}},
                                      std::vector{loss}, {train_op})[0]
                                 .scalar<float>();
    const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - start;
    if (step % 100 == 0) {
      fmt::print("Step {}: loss = {:.2f} ({:.3f} sec)\n", step, loss_value, duration.count());
      std::fflush(stdout);
    }
  }
  if (step == 0) throw sx::InvalidArgument("{} holds no examples", TrainFile(options));
  fmt::print("Done training for {} epochs, {} steps.\n", options.num_epochs, step);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  sx::Flags flags("Trains a fully connected network on MNIST records.");
  flags.Add("learning_rate", &options.learning_rate, "of gradient descent",
            {.min = 0, .max = std::numeric_limits<float>::max()});
  flags.Add("num_epochs", &options.num_epochs, "passes over the data", {.min = 1});
  flags.Add("hidden1", &options.hidden1, "units of the first hidden layer", {.min = 1});
  flags.Add("hidden2", &options.hidden2, "units of the second hidden layer", {.min = 1});
  flags.Add("batch_size", &options.batch_size, "images of a step", {.min = 1, .max = 1 << 24});
  flags.Add("train_dir", &options.train_dir, "folder of train.tfrecords");
  flags.Add("seed", &options.seed, "of the weights and of shuffling");
  return flags.Main(argc, argv, [&] { Train(options); });
}
